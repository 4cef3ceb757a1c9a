import { DEFAULT_OWNER } from "../domain/permissions.ts";
import { listAccountRows } from "../store/queries/accounts.ts";
import { insertMeta, readMeta } from "../store/queries/meta.ts";
import { askPlatform } from "./ask-platform.ts";
import { connectAccounts } from "./store-accounts.ts";
import { toFound } from "./found-channels.ts";
import { guestCall, type AppContext } from "../context.ts";

const FIRST_ACCOUNT = "first_account";

/** Another process made the account in the meantime. */
class MadeAlready extends Error {}

/**
 * Gives the default owner an account on the built-in platform that asks for nothing, once in the life of a
 * database, so that everything works before any channel is connected.
 */
export async function ensureFirstAccount(ctx: AppContext): Promise<void> {
  if ((await readMeta(ctx.store, FIRST_ACCOUNT)) !== null) return;
  const platform = [...ctx.platforms.values()].find(({ connect }) => connect[0].kind === "none");
  const way = platform?.connect[0];
  if (platform === undefined || way?.kind !== "none") return;
  if ((await listAccountRows(ctx.store, DEFAULT_OWNER)).length > 0) return;
  const target = {
    ownerId: DEFAULT_OWNER,
    platform,
    way,
    instanceUrl: null,
    handle: null,
    name: "My feed",
    reconnecting: null,
  };
  try {
    const found = toFound(await askPlatform(guestCall(ctx), target, {}), {
      instanceUrl: null,
      redirectUrl: "",
    });
    await connectAccounts(guestCall(ctx), {
      target,
      found,
      chosen: found.targets,
      logLevel: "debug",
      answer: async (tx, outcome) => {
        if (!(await insertMeta(tx, FIRST_ACCOUNT, outcome.account.id))) throw new MadeAlready();
        return outcome;
      },
    });
  } catch (error) {
    if (!(error instanceof MadeAlready)) throw error;
  }
}
