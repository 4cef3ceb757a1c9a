import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { DryRun } from "../src/domain/posts/post.ts";
import { ChangedPost, PostsChange } from "../src/domain/posts/post-body.ts";
import { askToChange, changePosts } from "../src/posts/drafts/change-posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "change_posts",
  title: "Move or cancel several posts",
  permission: "publish",
  description:
    "Move or cancel up to 500 waiting posts, all or none (one: update_post, cancel_post), named by ids, or by " +
    "channel, label or time. First with dryRun. " +
    'Example: {"from":"2027-01-29","to":"2027-01-29","toDay":"2027-02-01"}',
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  input: PostsChange,
  output: z.strictObject({
    changed: z.array(ChangedPost).describe("Earliest first."),
    warnings: z.array(Said).describe("What to look at."),
    dryRun: DryRun,
  }),
  question: (args, call) => askToChange(call, args),
  handle: (args, call) => changePosts(call, args),
});
