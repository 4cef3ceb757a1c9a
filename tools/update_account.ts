import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { Account } from "../src/domain/accounts/account.ts";
import { AccountChange, SlotSuggestion } from "../src/domain/accounts/schedule.ts";
import { ChangedPost } from "../src/domain/posts/post-body.ts";
import { DryRun } from "../src/domain/posts/post.ts";
import { askToRelease } from "../src/posts/update-account.ts";
import { changeAccount } from "../src/reporting/results/suggest-slots.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "update_account",
  title: "Change a channel's slots",
  permission: "accounts",
  description:
    "Set a channel's (list_accounts) slots, pause, resume or name it, or add utm parameters to its links. " +
    'Example: {"accountId":"Blog","schedule":{"slots":[{"days":["mon"],"times":["09:30"]}]}}',
  hints: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  input: AccountChange,
  output: z.strictObject({
    account: Account,
    moved: z.array(ChangedPost).describe("Posts with another time."),
    dryRun: DryRun,
    warnings: z.array(Said).optional().describe("What to look at."),
    suggestion: SlotSuggestion.optional().describe("Proposed slots, or why not."),
  }),
  question: (args, call) => askToRelease(call, args),
  handle: (args, call) => changeAccount(call, args),
});
