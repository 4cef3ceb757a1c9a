import * as z from "zod";
import { Account } from "../src/domain/accounts/account.ts";
import { listAccounts } from "../src/channels/accounts/accounts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_accounts",
  title: "List accounts",
  permission: "read",
  description:
    "The connected channels, their health and what each can do. With accountId: all limits of one. Call it before save_draft or schedule_post. Example: {}",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({ accountId: z.string().min(1).optional().describe("Only this one.") }),
  output: z.strictObject({ accounts: z.array(Account).describe("Oldest first.") }),
  handle: (args, call) => listAccounts(call, args),
});
