import * as z from "zod";
import { Post } from "../src/domain/posts/post.ts";
import { retryPost } from "../src/services/posts/posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "retry_post",
  title: "Send a failed post again",
  permission: "publish",
  description:
    "Send a failed post again, now. Read its error first (get_post). If its outcome is unknown, the platform is asked before anything is " +
    'sent; if that settles nothing, the answer says to call resolve_post. Example: {"id":"post_…"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: z.strictObject({ id: z.string().describe("The failed post, from list_posts with status failed.") }),
  output: z.strictObject({ post: Post }),
  handle: (args, call) => retryPost(call, args),
});
