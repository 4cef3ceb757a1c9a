import { SECOND } from "../../../domain/time.ts";
import type { AccountRow } from "../../../store/queries/accounts.ts";
import type { GrantRow } from "../../../store/queries/grants.ts";
import type { AppContext } from "../../context.ts";
import { openAccountIo } from "../platform-io.ts";
import { openGrant } from "../secrets.ts";
import { createRenewalIo } from "./renewal-io.ts";

const REVOKE_WITHIN_MS = 10 * SECOND;

/**
 * Tells the platform that the tokens are not needed any more; whatever comes of that, they are forgotten here.
 * `account`: the last channel of the grant. Never throws.
 */
export async function revokeGrant(
  ctx: AppContext,
  { grant, account }: { readonly grant: GrantRow; readonly account: AccountRow },
): Promise<void> {
  const fields = { provider: grant.provider, accountId: account.id };
  try {
    const secrets = openGrant(ctx, grant);
    const { io, way } = await createRenewalIo(
      ctx,
      { grant, account, secrets, openIo: openAccountIo },
      REVOKE_WITHIN_MS,
    );
    if (!("revoke" in way) || way.revoke === undefined) return;
    await way.revoke(secrets, io);
    ctx.log.info(fields, "The tokens were given back to the platform");
  } catch (error) {
    ctx.log.warn({ ...fields, err: error }, "The tokens could not be given back to the platform");
  }
}
