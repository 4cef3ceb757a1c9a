import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { Resolution } from "../src/domain/posts/post-body.ts";
import { Post } from "../src/domain/posts/post.ts";
import { resolvePost } from "../src/posts/posts.ts";
import { askToResolve } from "../src/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "resolve_post",
  title: "Settle or dismiss a failed post",
  permission: "publish",
  description:
    'Settle a failed post whose error begins with "outcome unknown", after a person has looked at the channel: ' +
    "published if it is there, not_published if not (then retry_post may send it). Never guess. dismissed puts any failed post away. " +
    'Example: {"id":"post_1","outcome":"published"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  input: Resolution,
  output: z.strictObject({ post: Post, warnings: z.array(Said).optional().describe("What to know.") }),
  question: (args, call) => askToResolve(call, args),
  handle: (args, call) => resolvePost(call, args),
});
