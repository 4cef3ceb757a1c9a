import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { DryRun, DryRunPreview, Post } from "../src/domain/posts/post.ts";
import { PostChange } from "../src/domain/posts/post-body.ts";
import { updatePost } from "../src/posts/update-post.ts";
import { awaitPost } from "../src/posts/outcomes.ts";
import { askToPublishSooner } from "../src/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "update_post",
  title: "Change a scheduled post",
  permission: "publish",
  description:
    "Change a post that is still scheduled. Live posts: edit_published_post. " +
    'Example: {"id":"post_1","metadata":{"title":"New title"}}',
  hints: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  input: PostChange,
  output: z.strictObject({
    post: Post,
    warnings: z.array(Said).describe("What to look at."),
    dryRun: DryRun,
    preview: DryRunPreview,
  }),
  question: (args, call) => askToPublishSooner(call, args),
  handle: (args, call) => updatePost(call, args),
  untilOut: awaitPost,
});
