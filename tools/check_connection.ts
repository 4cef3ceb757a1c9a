import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { Account } from "../src/domain/accounts/account.ts";
import { CONNECTION_STATUSES } from "../src/domain/accounts/connection.ts";
import { checkConnection } from "../src/channels/connecting/check-connection.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  status: z.enum(CONNECTION_STATUSES).describe("How far it is."),
  account: Account.nullable().describe("Set once connected."),
  accounts: z.array(Account).describe("All that it connected."),
  error: Said.nullable().describe("Why the last try failed."),
  warnings: z.array(Said).optional().describe("Notes."),
});

export default defineTool({
  name: "check_connection",
  title: "Check a connection",
  permission: "accounts",
  description:
    "See how far connect_channel has come, once the person is done. choose: they still pick channels there. " +
    'Example: {"connectId":"con_…"}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({ connectId: z.string().min(1).max(64).describe("From connect_channel.") }),
  output,
  handle: (args, call) => checkConnection(call, args),
});
