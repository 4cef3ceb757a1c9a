import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { Draft, SaveDraft } from "../src/domain/drafts/draft.ts";
import { saveDraft } from "../src/posts/drafts/save-draft.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "save_draft",
  title: "Save a draft",
  permission: "draft",
  description:
    "Write or change a draft: one text for several channels, with what differs on each. Nothing goes out. With submit it waits for a person. Use it instead of schedule_post where a person looks first. " +
    'Example: {"caption":"Hello","targets":[{"accountId":"Blog"},{"accountId":"mastodon","caption":"Hi"}],"submit":true}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: SaveDraft,
  output: z.strictObject({
    draft: Draft.describe("Its checks say what is missing."),
    warnings: z.array(Said).describe("What to look at."),
  }),
  handle: (args, call) => saveDraft(call, args),
});
