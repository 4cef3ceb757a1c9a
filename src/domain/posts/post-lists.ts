import * as z from "zod";
import { POST_STATUSES } from "./post-states.ts";
import { Post } from "./post.ts";

/** Which posts, and which page of them. */
export const ListPostsArgs = z.strictObject({
  accountId: z
    .array(z.string())
    .min(1)
    .max(500)
    .optional()
    .describe("Only posts on these channels: ids, names, handles or platforms."),
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
});
export type ListPostsArgs = z.infer<typeof ListPostsArgs>;

/** A page of posts. */
export const PostPage = z.strictObject({
  posts: z.array(Post).describe("Latest time first."),
  nextCursor: z.string().nullable().describe("Null on the last page."),
});
export type PostPage = z.infer<typeof PostPage>;

/** Which time window; without bounds the current month. */
export const CalendarArgs = z.strictObject({
  from: z.string().optional().describe("Scheduled at or after: ISO 8601 time, or a date (its start)."),
  to: z.string().optional().describe("Scheduled at or before: ISO 8601 time, or a date (its end)."),
  accountId: z
    .array(z.string())
    .min(1)
    .max(500)
    .optional()
    .describe("Only posts on these channels, as in list_posts."),
  status: z.array(z.enum(POST_STATUSES)).min(1).optional().describe("Only these statuses."),
  limit: z
    .int()
    .min(1)
    .max(500)
    .optional()
    .describe("Only the earliest so many, from now on where no from is given."),
});
export type CalendarArgs = z.infer<typeof CalendarArgs>;

/** The posts of a time window. */
export const Calendar = z.strictObject({
  posts: z.array(Post).describe("Earliest first."),
  names: z.record(z.string(), z.string()).describe("Channels' names by accountId."),
  platforms: z.record(z.string(), z.string()).describe("Platforms' names by provider."),
  from: z.iso.datetime().describe("Start of the window."),
  to: z.iso.datetime().describe("End of the window, included."),
  timezone: z.string().describe("Zone of dates and days."),
});
export type Calendar = z.infer<typeof Calendar>;
