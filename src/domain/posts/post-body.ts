import { z } from "zod";

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

/** The body of `PATCH /posts/{id}` and, with the id, of `update_post`. */
export const PostChange = z.strictObject({
  id: z.string().describe("The post, from list_posts."),
  ...content,
});
