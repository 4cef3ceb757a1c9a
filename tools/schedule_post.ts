import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { DryRun, DryRunPreview, Post } from "../src/domain/posts/post.ts";
import { SinglePostBody } from "../src/domain/posts/post-body.ts";
import { schedulePost } from "../src/posts/schedule-post.ts";
import { awaitPost } from "../src/posts/outcomes.ts";
import { askToPublish } from "../src/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "schedule_post",
  title: "Schedule a post",
  permission: "publish",
  description:
    "Schedule a post on a connected channel (list_accounts). Leave scheduledAt out to publish now. Take files " +
    "from list_files or upload_file. dryRun shows every warning and a preview. " +
    'Example: {"accountId":"Blog","scheduledAt":"2027-01-31T09:00","caption":"Hello"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: SinglePostBody,
  output: z.strictObject({
    post: Post,
    warnings: z.array(Said).describe("What to look at."),
    dryRun: DryRun,
    preview: DryRunPreview,
  }),
  question: (args, call) => askToPublish(call, args),
  handle: (args, call) => schedulePost(call, args),
  untilOut: awaitPost,
});
