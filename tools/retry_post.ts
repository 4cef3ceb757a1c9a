import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { PostRetry } from "../src/domain/posts/post-body.ts";
import { DryRun, DryRunPreview, Post } from "../src/domain/posts/post.ts";
import { awaitPost } from "../src/posts/outcomes.ts";
import { askToRetry } from "../src/posts/questions.ts";
import { retryPost } from "../src/posts/update-post.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "retry_post",
  title: "Send a failed post again",
  permission: "publish",
  description:
    "Send a failed post again. Read its error first (get_post) and change what it names. An unknown outcome is asked about first. " +
    'Example: {"id":"post_1","caption":"Corrected text"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: PostRetry,
  output: z.strictObject({
    post: Post,
    warnings: z.array(Said).optional().describe("What to look at."),
    dryRun: DryRun,
    preview: DryRunPreview,
  }),
  question: (args, call) => askToRetry(call, args),
  handle: (args, call) => retryPost(call, args),
  untilOut: awaitPost,
});
