import * as z from "zod";
import { BatchResult } from "../src/domain/posts/post.ts";
import { PostBody } from "../src/domain/posts/post-body.ts";
import { schedulePosts } from "../src/posts/schedule-post.ts";
import { askToPublishSeveral } from "../src/posts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const { shape } = PostBody;
/** What the fields mean stands in schedule_post, once for both. */
const OnePost = PostBody.extend({
  accountId: shape.accountId.describe("The channel."),
  scheduledAt: shape.scheduledAt.describe("When."),
  mediaUrl: shape.mediaUrl.describe("Media."),
  leadMinutes: shape.leadMinutes.describe("As there."),
  thumbnailUrl: shape.thumbnailUrl.describe("As there."),
  slot: shape.slot.describe("Next free slot."),
  labels: shape.labels.describe("Never published."),
  dryRun: shape.dryRun.describe("Only check."),
});

export default defineTool({
  name: "schedule_posts",
  title: "Schedule several posts",
  permission: "publish",
  description:
    "Schedule up to 100 posts, each as in schedule_post. Each stands for itself: see error and warnings. " +
    'Example: {"posts":[{"accountId":"Blog","caption":"One","slot":"next"}],"atomic":true}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: z.strictObject({
    posts: z.array(OnePost).min(1).max(100).describe("As in schedule_post."),
    atomic: z.boolean().optional().describe("All or none."),
    dryRun: z.boolean().optional().describe("Only check all."),
  }),
  output: z.strictObject({ results: z.array(BatchResult).describe("In the order of posts.") }),
  question: (args, call) => askToPublishSeveral(call, args),
  handle: (args, call) => schedulePosts(call, args),
});
