import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { Attempt, Insights, Post, Preparing } from "../src/domain/posts/post.ts";
import { getPost } from "../src/posts/posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "get_post",
  title: "Get a post",
  permission: "read",
  description:
    "One post by its id (list_posts). With history: every attempt and its steps, to understand a failure before retry_post. " +
    'Example: {"id":"post_1","history":true}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
  input: z.strictObject({
    id: z.string().describe("From list_posts."),
    insights: z.boolean().optional().describe("Ask for live status and metrics."),
    history: z.boolean().optional().describe("Add attempts, oldest first."),
  }),
  output: z.strictObject({
    post: Post,
    draftId: z.string().nullable().optional().describe("The draft that it comes from."),
    labels: z.array(z.string()).optional().describe("Never published."),
    note: z.string().nullable().optional().describe("Never published."),
    preparing: Preparing.optional().describe("How far its film is converted."),
    insights: Insights.optional().describe("Live status and numbers."),
    warnings: z.array(Said).optional().describe("What to know of it."),
    history: z.array(Attempt).optional().describe("Oldest first."),
  }),
  handle: (args, call) => getPost(call, args),
});
