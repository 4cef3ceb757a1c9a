import { DraftPage, ListDraftsArgs } from "../src/domain/drafts/draft.ts";
import { listDrafts } from "../src/posts/drafts/drafts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_drafts",
  title: "List drafts",
  permission: "read",
  description:
    "Drafts (save_draft), last changed first: what is open or waits for a person, what was decided and why, and what became of " +
    'the posts. Example: {"state":["waiting"]}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: ListDraftsArgs,
  output: DraftPage,
  handle: (args, call) => listDrafts(call, args),
});
