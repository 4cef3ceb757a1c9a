import * as z from "zod";

/** Fields of a post's content that a caller may give; shared by scheduling and changing. */
const content = {
  scheduledAt: z.string().optional().describe("When it goes live: ISO 8601 with Z or an offset."),
  mediaUrl: z
    .string()
    .max(4_096)
    .optional()
    .describe("Picture, video or audio: https or r2:// address, or file id."),
  caption: z.string().max(100_000).nullable().optional().describe("The post's text."),
  metadata: z
    .record(z.string(), z.json())
    .nullable()
    .optional()
    .describe("The platform's own fields, such as title; see list_platforms."),
  leadMinutes: z
    .int()
    .min(0)
    .max(100_000)
    .nullable()
    .optional()
    .describe("Minutes before scheduledAt to upload or prepare it."),
  thumbnailUrl: z.string().max(4_096).nullable().optional().describe("Short form of metadata.thumbnailUrl."),
};

/** The body of `POST /posts` and of `schedule_post`. */
export const PostBody = z.strictObject({
  accountId: z.string().describe("The account to post on, from list_accounts."),
  ...content,
  dryRun: z
    .boolean()
    .optional()
    .describe("Only check: answer with the post as it would be and every warning."),
});

export type PostBody = z.infer<typeof PostBody>;

/** The body of `PATCH /posts/{id}` and, with the id, of `update_post`. */
export const PostChange = z.strictObject({
  id: z.string().describe("The post, from list_posts."),
  ...content,
});

export type PostChange = z.infer<typeof PostChange>;

/** A post's content as a caller gives it; what is left out stays as it is (update) or empty (schedule). */
export type PostInput = Omit<PostChange, "id">;

/** What changes a live post: the body of `edit_published_post`. */
export const PostEdit = z.strictObject({
  id: z.string().describe("The live post, from list_posts with status published."),
  caption: z.string().max(100_000).nullable().optional().describe("The new text."),
  metadata: z
    .record(z.string(), z.json())
    .nullable()
    .optional()
    .describe("Platform fields to change; merged key by key."),
});
export type PostEdit = z.infer<typeof PostEdit>;

/** How a person settles an unknown outcome. */
export const Resolution = z.strictObject({
  id: z.string().describe("The post, from list_posts with status failed."),
  outcome: z.enum(["published", "not_published"]).describe("What a person saw on the channel."),
  platformPostId: z.string().min(1).max(500).optional().describe("Its id on the platform, if known."),
  platformUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("Its address on the platform, if known."),
});
export type Resolution = z.infer<typeof Resolution>;
