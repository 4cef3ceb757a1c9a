import type { Account } from "../domain/accounts/account.ts";
import { findAccountRow, updateConnection } from "../store/queries/accounts.ts";
import type { GrantRow } from "../store/queries/grants.ts";
import { commitOnce } from "../access/idempotency.ts";
import { findAccount, showAccount } from "../accounts/accounts.ts";
import type { CallContext } from "../context.ts";
import { dropGrantIfUnused } from "./grants.ts";
import { revokeGrant } from "./renewal.ts";

/**
 * Forgets the account's secrets, and gives its tokens back where no other channel uses them. Its posts stay, and so does its identity, by which connecting it again finds
 * it.
 */
export async function disconnectChannel(
  call: CallContext,
  args: { accountId: string },
): Promise<{ account: Account }> {
  const { ctx, caller } = call;
  const found = await findAccount(ctx, caller, args.accountId);
  if (found.status === "disconnected") return { account: await showAccount(ctx, ctx.store, found) };
  let dropped: GrantRow | null = null as GrantRow | null;
  const answer = await commitOnce(call, async (tx) => {
    await updateConnection(
      tx,
      { ownerId: caller.ownerId, id: found.id },
      {
        status: "disconnected",
        status_reason: "It was disconnected on request.",
        secrets_enc: null,
        grant_id: null,
        token_expires_at: null,
        access_ends_at: null,
        scopes: "[]",
        updated_at: ctx.clock.now(),
      },
    );
    const grant = found.grant_id === null ? null : { ownerId: caller.ownerId, id: found.grant_id };
    dropped = grant === null ? null : await dropGrantIfUnused(tx, grant);
    const row = (await findAccountRow(tx, caller.ownerId, found.id)) ?? found;
    return { account: await showAccount(ctx, tx, row) };
  });
  ctx.log.info({ accountId: found.id, provider: found.provider }, "The account was disconnected");
  if (dropped !== null) await revokeGrant(ctx, { grant: dropped, account: found });
  return answer;
}
