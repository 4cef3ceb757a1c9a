import pLimit from "p-limit";
import { PlatformFault } from "../../../ports/platform-io.ts";
import type { AccountRow } from "../../../store/queries/accounts.ts";
import { listAccountsOfGrant, listGrantsToRenew, type SeenGrant } from "../../../store/queries/grants.ts";
import type { AppContext } from "../../context.ts";
import { openAccountIo } from "../platform-io.ts";
import { openSecrets } from "../secrets.ts";
import { renewGrant } from "./renew-grant.ts";

/** Refreshes of one pass that run at a time. */
const MAX_RENEWING = 8;

/**
 * Renews the tokens whose time has come, before they end or die of idleness. What does not come through is
 * logged, and done again with the next pass.
 */
export async function renewDueGrants(ctx: AppContext, signal: AbortSignal): Promise<void> {
  const due = await listGrantsToRenew(ctx.store, ctx.clock.now());
  const limit = pLimit(MAX_RENEWING);
  const renew = async (grant: SeenGrant): Promise<void> => {
    if (!signal.aborted) await renewOne(ctx, grant);
  };
  await Promise.all(due.map((grant) => limit(() => renew(grant))));
}

async function renewOne(ctx: AppContext, grant: SeenGrant): Promise<void> {
  try {
    const account = (await listAccountsOfGrant(ctx.store, grant)).find((row) => canVouch(ctx, row));
    if (account === undefined) return;
    await renewGrant(ctx, grant, { account, openIo: openAccountIo, isRefused: false });
  } catch (err) {
    const cause = err instanceof PlatformFault ? { kind: err.kind, reason: err.message } : { err };
    ctx.log.warn({ grantId: grant.id, ...cause }, "Tokens could not be renewed ahead of their end");
  }
}

/** Its settings name the server that gets the tokens: its own secrets prove that they are as they were. */
function canVouch(ctx: AppContext, row: AccountRow): boolean {
  try {
    openSecrets(ctx, row);
    return true;
  } catch {
    return false;
  }
}
