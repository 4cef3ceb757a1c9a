import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import { findAccountRow, storeSettings, type AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { openSecrets, sealSecrets } from "./secrets.ts";

/**
 * Merges what a platform has learned into the account's settings, and seals its secrets anew, which are bound
 * to them. Gives the row as it is now. Throws a `not_sent` fault where the channel was connected anew since,
 * or is connected no more.
 */
export async function rememberSettings(
  ctx: AppContext,
  seen: AccountRow,
  settings: JsonObject,
): Promise<AccountRow> {
  if ("instanceUrl" in settings) throw new Error("Only a person changes the server of a channel.");
  return ctx.store.write(async (tx) => {
    const row = await findAccountRow(tx, seen.owner_id, seen.id);
    const changed = new PlatformFault("not_sent", "The channel was reconnected while it was being used.");
    if (row === undefined || row.status === "disconnected" || row.settings !== seen.settings) throw changed;
    const merged = { ...row, settings: JSON.stringify({ ...JSON.parse(row.settings), ...settings }) };
    const change = {
      settings: merged.settings,
      secrets_enc: sealSecrets(ctx, merged, openSecrets(ctx, row)),
      secrets_version: row.secrets_version + 1,
      updated_at: ctx.clock.now(),
    };
    if (!(await storeSettings(tx, row, change))) throw changed;
    return { ...row, ...change };
  });
}
