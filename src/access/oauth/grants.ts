import { AppError } from "../../domain/errors.ts";
import { type Caller, isAllowed } from "../../domain/permissions.ts";
import type { CallContext } from "../../context.ts";
import { revokeApiKeyRow } from "../../store/queries/access.ts";
import { listOAuthGrants } from "../../store/queries/oauth/grants.ts";
import { namesOfKeys, toApiKey } from "../api-keys.ts";
import { clientOf } from "./consents.ts";

/** What programs hold: by the caller's own yes, for those who may do everything by anybody's. */
export async function listGrants({ ctx, caller }: CallContext) {
  const { ownerId } = caller;
  const rows = await listOAuthGrants(ctx.store, { ownerId, givenBy: reachOf(caller), now: ctx.clock.now() });
  const nameOf = await namesOfKeys(ctx.store, ownerId);
  return {
    grants: rows.map((row) => {
      const { id: _, ...client } = clientOf(row);
      const { id, role, permissions, accountIds, createdAt, lastUsedAt, expiresAt } = toApiKey(ctx, row);
      const givenBy = nameOf(row.given_by);
      return { id, client, role, permissions, accountIds, givenBy, createdAt, lastUsedAt, expiresAt };
    }),
  };
}

/** All tokens end at once. Throws `not_found`. */
export async function revokeGrant({ ctx, caller }: CallContext, id: string): Promise<void> {
  const { ownerId } = caller;
  const now = ctx.clock.now();
  const isRevoked = await ctx.store.write(async (tx) => {
    const rows = await listOAuthGrants(tx, { ownerId, givenBy: reachOf(caller), now });
    return rows.some((row) => row.id === id) && (await revokeApiKeyRow(tx, { ownerId, id, now })) !== null;
  });
  if (!isRevoked)
    throw new AppError("not_found", "There is no such program (any more). Load the list again.");
  ctx.log.info({ keyId: id, ownerId }, "A program's access was ended");
}

function reachOf(caller: Caller): string | null {
  return isAllowed(caller, "admin") && caller.accountIds === null ? null : caller.keyId;
}
