import * as z from "zod";
import { Account } from "../src/domain/accounts/account.ts";
import { askToDisconnect } from "../src/posts/drafts/change-posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";
import { disconnectChannel } from "../src/channels/connecting/connections.ts";

export default defineTool({
  name: "disconnect_channel",
  title: "Disconnect a channel",
  permission: "accounts",
  description:
    "Forget a channel's (list_accounts) passwords and tokens. Its waiting posts fail unless connect_channel comes before their time. Live posts stay. " +
    'Example: {"accountId":"Blog"}',
  hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  input: z.strictObject({ accountId: z.string().min(1).max(64).describe("From list_accounts.") }),
  output: z.strictObject({ account: Account }),
  question: (args, call) => askToDisconnect(call, args),
  handle: (args, call) => disconnectChannel(call, args),
});
