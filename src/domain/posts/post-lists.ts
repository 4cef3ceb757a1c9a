import * as z from "zod";
import { Said } from "../sentences.ts";
import { optionalBounds, optionalName, optionalNames, optionalText } from "../optional.ts";
import { POST_STATUSES } from "./post-states.ts";
import { Post } from "./post.ts";

const bounds = optionalBounds("Scheduled");
const Statuses = z.array(z.enum(POST_STATUSES)).min(1).optional().describe("Only these statuses.");

/** Which posts, and which page of them. */
export const ListPostsArgs = z.strictObject({
  accountId: optionalNames(500).describe("Only on these channels: ids, names, handles or platforms."),
  provider: optionalNames(50).describe("Only on these platforms."),
  status: Statuses,
  label: optionalNames(20).describe("Only with one of these labels."),
  draftId: optionalName(100).describe("Only the posts of this draft."),
  search: optionalText(500).describe("Beginnings of words in title, caption, description, labels or note."),
  ...bounds,
  limit: z.int().min(1).max(500).default(50).describe("Posts per page."),
  cursor: z.string().optional().describe("nextCursor of the previous page."),
});
export type ListPostsArgs = z.infer<typeof ListPostsArgs>;

/** A page of posts. */
export const PostPage = z.strictObject({
  posts: z.array(Post).describe("Latest time first."),
  nextCursor: z.string().nullable().describe("Null on the last page."),
  warnings: z.array(Said).optional().describe("Notes."),
});
export type PostPage = z.infer<typeof PostPage>;
export type SaidPostPage = z.input<typeof PostPage>;

/** Which time window; without bounds the current month. */
export const CalendarArgs = z.strictObject({
  ...bounds,
  accountId: optionalNames(500).describe("Only these channels."),
  status: Statuses,
  limit: ListPostsArgs.shape.limit
    .unwrap()
    .optional()
    .describe("Only the earliest; without from, of those to come."),
});
export type CalendarArgs = z.infer<typeof CalendarArgs>;

/** The posts of a time window. */
export const Calendar = z.strictObject({
  posts: z.array(Post).describe("Earliest first."),
  freeSlots: z
    .array(z.strictObject({ accountId: z.string(), at: z.iso.datetime() }))
    .describe("From now on."),
  names: z.record(z.string(), z.string()).describe("By accountId."),
  platforms: z.record(z.string(), z.string()).describe("By provider."),
  from: z.iso.datetime().describe("The window's start."),
  to: z.iso.datetime().describe("Its end."),
  timezone: z.string().describe("Of dates."),
  warnings: z.array(Said).optional().describe("Notes."),
});
export type Calendar = z.infer<typeof Calendar>;
export type SaidCalendar = z.input<typeof Calendar>;
