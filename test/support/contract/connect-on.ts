import type { CallContext } from "../../../src/context.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import type { Tables } from "../../../src/store/schema/tables.ts";

/** Connects a channel with secrets, the way the command line does, and gives its row. */
export async function connectOn(
  call: CallContext,
  args: Parameters<typeof connectWithSecrets>[1],
): Promise<Tables["accounts"]> {
  const { account } = await connectWithSecrets(call, args);
  const row = await findAccountRow(call.ctx.store, call.caller.ownerId, account.id);
  if (row === undefined) throw new Error("The account was not stored.");
  return row;
}
