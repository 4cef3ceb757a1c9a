import { z } from "zod";
import { POST_STATUSES } from "../src/domain/posts/post-states.ts";
import { Post } from "../src/domain/posts/post.ts";
import { listPosts } from "../src/services/posts/list-posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  posts: z.array(Post).describe("Latest time first."),
  nextCursor: z.string().nullable().describe("Null on the last page."),
});

export default defineTool({
  name: "list_posts",
  title: "List posts",
  description:
    "Lists posts, newest scheduled time first, a page at a time. Use it to see what is planned, what failed, or to find a post and its id. " +
    "Filters narrow each other; the values of one list are alternatives. Account ids come from list_accounts. " +
    'Example: {"status": ["scheduled"], "search": "summer sale", "from": "2026-11-01"}.',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({
    accountId: z
      .array(z.string())
      .min(1)
      .max(500)
      .optional()
      .describe("Only posts on these accounts (ids from list_accounts)."),
    provider: z
      .array(z.string())
      .min(1)
      .max(50)
      .optional()
      .describe("Only posts on these platforms, for example bluesky."),
    status: z.array(z.enum(POST_STATUSES)).min(1).optional().describe("Only these statuses."),
    search: z
      .string()
      .max(500)
      .optional()
      .describe(
        "Words in title, caption or description: each must begin a word there, in any order, without regard to case and accents.",
      ),
    from: z.string().optional().describe("Scheduled at or after: ISO 8601 time, or a date (its start)."),
    to: z.string().optional().describe("Scheduled at or before: ISO 8601 time, or a date (its end)."),
    limit: z.int().min(1).max(500).default(50).describe("Posts per page."),
    cursor: z.string().optional().describe("nextCursor of the previous page, sent with the same filters."),
  }),
  output,
  handle: (args, call) => listPosts(call, args),
});
