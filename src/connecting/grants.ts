import { newId } from "../domain/ids.ts";
import type { ConnectWay, Place, Secrets, Tokens } from "../ports/connect.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { deleteUnusedGrant, findGrant, insertGrant, type GrantRow } from "../store/queries/grants.ts";
import type { Reader, Tx } from "../store/engine/store.ts";
import type { AppContext } from "../context.ts";
import { openGrant, openSecrets, sealGrant } from "../platform-io/secrets.ts";
import { renewAt } from "../platform-io/ways.ts";

interface NewGrant {
  readonly ownerId: string;
  readonly platform: AnyPlatform;
  readonly way: ConnectWay;
  /** `redirectUrl` is "" where the way has none. */
  readonly place: Place;
  readonly tokens: Tokens;
}

/**
 * Stores the tokens of a consent, or of signing in, and answers the id for the `grant_id` of its channels,
 * whose `token_expires_at` is the tokens' `expiresAt` and `access_ends_at` what `accessEndsAt` says. Their own
 * secrets are sealed with `sealSecrets` once that id is in their row, `{}` too.
 */
export async function keepGrant(ctx: AppContext, tx: Tx, fresh: NewGrant): Promise<string> {
  const { ownerId, platform, way, place, tokens } = fresh;
  const now = ctx.clock.now();
  const owner = {
    id: newId("grt"),
    owner_id: ownerId,
    provider: platform.name,
    way: way.name,
    instance_url: place.instanceUrl,
  };
  await insertGrant(tx, {
    ...owner,
    redirect_url: place.redirectUrl,
    secrets_enc: sealGrant(ctx, owner, tokens.secrets),
    secrets_version: 1,
    scopes: tokens.scopes === null ? null : JSON.stringify(tokens.scopes),
    expires_at: tokens.expiresAt,
    renewable_until: tokens.renewableUntil,
    renewed_at: now,
    renew_at: renewAt(way, tokens, now),
    renewing_worker: null,
    renewing_since: null,
    created_at: now,
    updated_at: now,
  });
  return owner.id;
}

/**
 * The grant's secrets, and over them the account's own. Throws `conflict` where one of both was sealed with
 * another key, or for another server.
 */
export async function readSecrets(ctx: AppContext, reader: Reader, row: AccountRow): Promise<Secrets> {
  const own = openSecrets(ctx, row);
  if (row.grant_id === null) return own;
  const grant = await findGrant(reader, { owner_id: row.owner_id, id: row.grant_id });
  return grant === undefined ? own : { ...openGrant(ctx, grant), ...own };
}

/** Deletes a grant that no channel uses any more; null where one does. What is deleted is for `revokeGrant`. */
export async function dropGrantIfUnused(
  tx: Tx,
  grant: { readonly ownerId: string; readonly id: string },
): Promise<GrantRow | null> {
  return (await deleteUnusedGrant(tx, { owner_id: grant.ownerId, id: grant.id })) ?? null;
}
