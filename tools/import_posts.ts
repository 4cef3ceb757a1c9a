import { ImportAnswer, ImportArgs } from "../src/domain/posts/post-import.ts";
import { importPosts } from "../src/posts/imports/import-posts.ts";
import { askToImport } from "../src/posts/imports/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "import_posts",
  title: "Import posts",
  permission: "publish",
  // A writer's drafts wait for a person, one by one or from a table.
  lesser: { permission: "draft", fits: (args) => args["as"] === "drafts", way: 'with as "drafts"' },
  description:
    "Schedule up to 5,000 posts from a table (CSV), all or none. Columns are named like the fields of schedule_post. Tables of Buffer, Hootsuite and Postiz are recognized. First as a dry run. A row is never made twice. " +
    'Example: {"csv":"accountId,scheduledAt,caption\\nBlog,2027-01-31T09:00,Hello"}',
  hints: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  input: ImportArgs,
  output: ImportAnswer,
  question: (args, call) => askToImport(call, args),
  handle: (args, call) => importPosts(call, args),
});
