import * as z from "zod";
import { Post } from "../src/domain/posts/post.ts";
import { cancelPost } from "../src/services/posts/posts.ts";
import { askToCancel } from "../src/services/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "cancel_post",
  title: "Cancel a post",
  permission: "publish",
  description:
    "Cancel a post that is still scheduled; after the answer it never goes out. With fromPlatform, a post that is uploaded but not yet " +
    'live is deleted on the platform too, where the platform can. Take the id from list_posts. Example: {"id":"post_…"}',
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  input: z.strictObject({
    id: z.string().describe("The post, from list_posts."),
    fromPlatform: z
      .boolean()
      .optional()
      .describe("Also take back an uploaded post by deleting it on the platform."),
  }),
  output: z.strictObject({ post: Post }),
  question: (args, call) => askToCancel(call, args),
  handle: (args, call) => cancelPost(call, args),
});
