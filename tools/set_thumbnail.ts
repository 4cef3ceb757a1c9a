import * as z from "zod";
import { Post } from "../src/domain/posts/post.ts";
import { setThumbnail } from "../src/posts/live-posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "set_thumbnail",
  title: "Set a thumbnail",
  permission: "publish",
  description:
    "Set the thumbnail of a post that is on its platform. Scheduled posts: update_post. " +
    'Example: {"id":"post_1","thumbnailUrl":"https://example.com/cover.jpg"}',
  hints: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  input: z.strictObject({
    id: z.string().describe("The post, from list_posts."),
    thumbnailUrl: z.string().min(1).max(4_096).describe("An https address or file id."),
  }),
  output: z.strictObject({ post: Post }),
  handle: (args, call) => setThumbnail(call, args),
});
