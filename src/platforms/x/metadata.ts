import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformPost } from "../../ports/platform.ts";

export const MAX_ITEMS = 4;
export const MAX_ALT_TEXT = 1_000;

const { altText, moreMedia, thread, thumbnailUrl } = commonMetadata;

const AltText = altText.unwrap().max(MAX_ALT_TEXT).optional();

/** What a post on X takes beside caption and media. */
export const XMetadata = z.strictObject({
  altText: AltText.describe("What the first picture shows, for people who cannot see it."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_ITEMS - 1)
    .optional()
    .describe("Up to 3 more pictures."),
  thumbnailUrl: thumbnailUrl.describe("Picture shown before the video plays."),
  thread: thread.describe("Posts that follow, each a reply to the one before."),
  replySettings: z
    .enum(["following", "mentionedUsers", "subscribers", "verified"])
    .optional()
    .describe(
      "Who may reply: accounts that the channel follows, those it mentions, its subscribers, or verified ones. Default: everybody.",
    ),
  communityId: z
    .string()
    .regex(/^\d{1,19}$/, "must be the number in the community's address")
    .optional()
    .describe("Posts into this community: the number in its address."),
  madeWithAi: z.boolean().optional().describe("Says that the media were made with AI."),
  paidPartnership: z.boolean().optional().describe("Says that it is paid advertising."),
});
export type XMetadata = z.infer<typeof XMetadata>;
export type XPost = PlatformPost<XMetadata>;
