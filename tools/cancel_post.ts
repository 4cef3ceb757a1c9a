import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { Post } from "../src/domain/posts/post.ts";
import { askToCancel, cancelPost } from "../src/posts/drafts/cancel-post.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "cancel_post",
  title: "Cancel or take down a post",
  permission: "publish",
  description:
    "Cancel a scheduled post (several: change_posts). With fromPlatform, take a live or uploaded one down: it is deleted there, where that can be. " +
    'Example: {"id":"post_1","fromPlatform":true}',
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  input: z.strictObject({
    id: z.string().describe("From list_posts."),
    fromPlatform: z.boolean().optional().describe("Also delete one that is there."),
  }),
  output: z.strictObject({ post: Post, warnings: z.array(Said).optional().describe("Done.") }),
  question: (args, call) => askToCancel(call, args),
  handle: (args, call) => cancelPost(call, args),
});
