import { z } from "zod";
import type { PlatformPost } from "../../ports/platform.ts";

/** Self-applied content warnings that Bluesky's readers can filter by. */
export const CONTENT_LABELS = ["sexual", "nudity", "porn", "graphic-media"] as const;
export const REPLY_RULES = ["mentioned", "followers", "following"] as const;

export const MAX_TEXT_GRAPHEMES = 300;
export const MAX_TEXT_BYTES = 3_000;
export const MAX_IMAGES = 4;
/** One commit takes 200 records; longer threads than this are not read either. */
const MAX_THREAD = 24;

const Language = z.string().refine(isLanguage, "must be a language code such as en or pt-BR");

/** Well formed after BCP 47, which servers check. */
function isLanguage(text: string): boolean {
  try {
    return new Intl.Locale(text).language !== "";
  } catch {
    return false;
  }
}

/** What a post on Bluesky takes beside caption and media. */
export const BlueskyMetadata = z.strictObject({
  title: z.string().max(300).optional().describe("Title of the link card."),
  description: z.string().max(1_000).optional().describe("Description on the link card."),
  link: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address shown as a link card; not together with media."),
  thumbnailUrl: z.string().min(1).optional().describe("Picture of the link card."),
  altText: z.string().max(2_000).optional().describe("Describes mediaUrl for people who cannot see it."),
  moreMedia: z
    .array(z.strictObject({ url: z.string().min(1), altText: z.string().max(2_000).optional() }))
    .max(MAX_IMAGES - 1)
    .optional()
    .describe("Up to 3 more pictures."),
  tags: z
    .array(z.string().min(1).max(640))
    .max(8)
    .optional()
    .describe("Tags that are found by search but not shown; #tags in the caption are shown."),
  language: Language.optional().describe("Language of the text."),
  langs: z.array(Language).max(3).optional().describe("Languages of a text in more than one."),
  sensitive: z.boolean().optional().describe("Hides the media behind a warning (the label graphic-media)."),
  contentLabel: z.enum(CONTENT_LABELS).optional().describe("A warning of another kind."),
  thread: z
    .array(z.strictObject({ caption: z.string(), mediaUrl: z.string().optional(), altText: z.string().max(2_000).optional() }))
    .max(MAX_THREAD)
    .optional()
    .describe("Posts that follow, each a reply to the one before."),
  replyRules: z
    .union([z.enum(["everybody", "nobody"]), z.array(z.enum(REPLY_RULES)).min(1).max(3)])
    .optional()
    .describe("Who may reply: everybody, nobody, or some of mentioned, followers, following."),
  allowQuotes: z.boolean().optional().describe("False: nobody can quote the post."),
  allowEdit: z
    .boolean()
    .optional()
    .describe(
      "Lets edit_published_post replace a live post's record although apps may go on showing the old one and its likes may be lost.",
    ),
});
export type BlueskyMetadata = z.infer<typeof BlueskyMetadata>;
export type BlueskyPost = PlatformPost<BlueskyMetadata>;
