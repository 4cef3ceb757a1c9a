import { AppError } from "../domain/errors.ts";
import { DEFAULT_OWNER } from "../domain/permissions.ts";
import { listAccountRows } from "../store/accounts.ts";
import { insertMeta, readMeta } from "../store/meta.ts";
import { connectAccount } from "./connect-account.ts";
import type { AppContext } from "./context.ts";

const KEY_CHECK = "secret_key_check";
const FIRST_ACCOUNT = "first_account";

/** Throws `unavailable` when the secret key is not the one that sealed this database's tokens. */
export async function checkSecretKey(ctx: AppContext): Promise<void> {
  const sealed = await readMeta(ctx.db.query, KEY_CHECK);
  if (sealed === null) {
    await insertMeta(ctx.db.query, KEY_CHECK, ctx.cipher.seal(KEY_CHECK, KEY_CHECK));
    return;
  }
  try {
    ctx.cipher.open(sealed, KEY_CHECK);
  } catch (cause) {
    throw new AppError(
      "unavailable",
      "secret.key does not belong to this database, so the stored tokens cannot be read. Restore the secret.key that was backed up with it, or start on an empty data folder.",
      { cause },
    );
  }
}

/** Another process made the account in the meantime. */
class MadeAlready extends Error {}

/**
 * Gives the default owner an account on the built-in platform that asks for nothing, once in the life of a database, so that
 * everything works before any channel is connected.
 */
export async function ensureFirstAccount(ctx: AppContext): Promise<void> {
  if ((await readMeta(ctx.db.query, FIRST_ACCOUNT)) !== null) return;
  const platform = [...ctx.platforms.values()].find(({ connect }) => connect.kind === "none");
  if (platform === undefined || (await listAccountRows(ctx.db.query, DEFAULT_OWNER)).length > 0) return;
  const target = { ownerId: DEFAULT_OWNER, platform, instanceUrl: null, handle: null, name: "My feed", reconnecting: null };
  try {
    await connectAccount(ctx, target, {
      secrets: {},
      signal: new AbortController().signal,
      within: async (tx, row) => {
        if (!(await insertMeta(tx, FIRST_ACCOUNT, row.id))) throw new MadeAlready();
      },
    });
  } catch (error) {
    if (!(error instanceof MadeAlready)) throw error;
  }
}
