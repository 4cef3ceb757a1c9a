import * as z from "zod";
import { PostEdit } from "../src/domain/posts/post-body.ts";
import { Post } from "../src/domain/posts/post.ts";
import { editPublishedPost } from "../src/posts/live-posts.ts";
import { askToEdit } from "../src/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "edit_published_post",
  title: "Edit a live post",
  permission: "publish",
  description:
    "Change a live post: fields in its account's editPublished. Waiting posts: update_post. " +
    'Example: {"id":"post_1","caption":"Corrected text"}',
  hints: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  input: PostEdit,
  output: z.strictObject({
    post: Post,
    warnings: z.array(z.string()).optional().describe("Notes."),
  }),
  question: (args, call) => askToEdit(call, args),
  handle: (args, call) => editPublishedPost(call, args),
});
