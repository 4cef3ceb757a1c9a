import * as z from "zod";
import { Moment, MovedToDay, Slot } from "../time-fields.ts";
import { optionalBounds, optionalName, optionalNames, optionalText } from "../optional.ts";
import { COMMON_METADATA_SCHEMA } from "./common-metadata.ts";
import { planFields } from "./plan.ts";
import { POST_STATUSES } from "./post-states.ts";

const dryRun = z.boolean().optional().describe("Only check.");
const LEAD_MINUTES = "Minutes before to upload it.";

/** What a caller gives of a post's content; shared by scheduling and changing. */
const content = {
  scheduledAt: Moment.optional().describe("ISO 8601. Without an offset: the owner's zone."),
  mediaUrl: optionalText(4_096).describe("An https address or file id."),
  caption: optionalText(100_000).describe("The post's text."),
  leadMinutes: z.int().min(0).max(100_000).optional().describe(LEAD_MINUTES),
  thumbnailUrl: optionalText(4_096).describe("As metadata.thumbnailUrl."),
};

const fields = z.record(z.string(), z.json());

/** One of several posts. */
export const PostBody = z.strictObject({
  accountId: z.string().describe("The channel: id, name, handle or platform."),
  ...content,
  slot: Slot.optional().describe("Instead of scheduledAt: the channel's next free slot."),
  metadata: fields.optional().describe("The platform's own fields, as in schedule_post."),
  ...planFields,
  dryRun,
});

export type PostBody = z.infer<typeof PostBody>;

/** The body of `POST /posts` and `schedule_post`, with the common keys of `metadata`. */
export const SinglePostBody = PostBody.extend({
  metadata: fields.optional().meta({
    description: "The platform's own fields. list_platforms tells which of these, and more.",
    properties: COMMON_METADATA_SCHEMA,
    // Said, it keeps libraries from closing the object for strict modes, which would take the rest away.
    additionalProperties: true,
  }),
});

/** Platform fields of a post that is there already. */
const change = fields.nullable().optional().describe("As in schedule_post, by key. Null: removed.");

/** The body of `PATCH /posts/{id}` and `update_post`. What may be emptied is nullable, or `min(0)`. */
export const PostChange = z.strictObject({
  id: z.string().describe("The post, from list_posts."),
  ...content,
  mediaUrl: content.mediaUrl.unwrap().min(0).optional().describe("Another medium. Empty: none."),
  caption: content.caption.unwrap().min(0).optional().describe("The new text. Empty: none."),
  metadata: change,
  // Emptied by null or an empty text, which its type does not tell: the usual number can be given, too.
  leadMinutes: content.leadMinutes.unwrap().nullable().optional().describe(LEAD_MINUTES),
  thumbnailUrl: content.thumbnailUrl.unwrap().nullable().optional().describe("As metadata.thumbnailUrl."),
  ifUpdatedAt: z.string().optional().describe("Only if updatedAt is this."),
  dryRun,
});

export type PostChange = z.infer<typeof PostChange>;

/** A post's content as a caller gives it; what is left out stays as it is (update) or empty (schedule). */
export type PostInput = Omit<PostChange, "id" | "ifUpdatedAt" | "dryRun">;

/** What changes a live post: the body of `edit_published_post`. */
export const PostEdit = z.strictObject({
  id: z.string().describe("A live post."),
  caption: PostChange.shape.caption,
  metadata: change,
});
export type PostEdit = z.infer<typeof PostEdit>;

/** What is to be changed of a failed post before it is sent again; the body of `retry_post`. */
export const PostRetry = z.strictObject({
  id: z.string().describe("A failed post."),
  caption: PostChange.shape.caption,
  mediaUrl: PostChange.shape.mediaUrl,
  metadata: change,
  scheduledAt: content.scheduledAt.unwrap().optional().describe("When it is sent. Left out: at once."),
  dryRun,
});
export type PostRetry = z.infer<typeof PostRetry>;

const those = optionalBounds("Those");

/** Which waiting posts are moved or cancelled together, and how. */
export const PostsChange = z.strictObject({
  ids: optionalNames(500).describe("The posts. Or use the filter."),
  accountId: optionalNames(500).describe("On these channels."),
  label: optionalNames(20).describe("With one of these labels."),
  // An empty bound would choose more than was meant, and cancel that.
  from: Moment.optional().describe(those.from.description ?? ""),
  to: Moment.optional().describe(those.to.description ?? ""),
  shiftMinutes: z.int().min(-525_600).max(525_600).optional().describe("Move them. Negative: earlier."),
  toDay: MovedToDay.optional().describe("To this date, same time there."),
  cancel: z.boolean().optional().describe("Cancel them."),
  dryRun: z.boolean().optional().describe("Only check."),
});
export type PostsChange = z.infer<typeof PostsChange>;

/** What became of one of them. */
export const ChangedPost = z.strictObject({
  id: z.string(),
  accountId: z.string(),
  scheduledAt: z.iso.datetime(),
  was: z.iso.datetime().describe("Its time before."),
  status: z.enum(POST_STATUSES),
  text: z.string().describe("Its first words."),
});
export type ChangedPost = z.infer<typeof ChangedPost>;

/** How a person reconciles a failed post: what became of it, or that it is not wanted any more. */
export const Resolution = z.strictObject({
  id: z.string().describe("A failed post."),
  outcome: z
    .enum(["published", "not_published", "dismissed"])
    .describe("What a person saw. dismissed: no longer wanted."),
  platformPostId: optionalName(500).describe("Its id there, if known."),
  platformUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("Its address there, if known."),
});
export type Resolution = z.infer<typeof Resolution>;
