import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformPost } from "../../ports/platform.ts";

/** Self-applied content warnings that Bluesky's readers can filter by. */
const CONTENT_LABELS = ["sexual", "nudity", "porn", "graphic-media"] as const;
const REPLY_RULES = ["mentioned", "followers", "following"] as const;

export const MAX_TEXT_GRAPHEMES = 300;
export const MAX_TEXT_BYTES = 3_000;
export const MAX_IMAGES = 4;
/** One commit takes 200 records; longer threads than this are not read either. */
const MAX_THREAD = 24;

/** Well formed after BCP 47, which servers check. */
function isLanguage(text: string): boolean {
  try {
    return new Intl.Locale(text).language !== "";
  } catch {
    return false;
  }
}

const { title, description, link, altText, thumbnailUrl, sensitive, moreMedia, tags, language, thread } =
  commonMetadata;
const NO_LANGUAGE = "must be a language tag such as en or pt-BR";

/** What a post on Bluesky takes beside caption and media. */
export const BlueskyMetadata = z.strictObject({
  title: title.describe("Title of the link card."),
  description: description.describe("Description on the link card."),
  link: link.describe("Address shown as a link card, not with media."),
  thumbnailUrl: thumbnailUrl.describe("Picture of the link card."),
  altText,
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_IMAGES - 1)
    .optional()
    .describe("Up to 3 more pictures."),
  tags: tags
    .unwrap()
    .max(8)
    .optional()
    .describe("Tags for search that readers do not see, unlike #tags in the caption."),
  language: language.unwrap().refine(isLanguage, NO_LANGUAGE).optional().describe("Language of the text."),
  langs: z
    .array(z.string().refine(isLanguage, NO_LANGUAGE))
    .max(3)
    .optional()
    .describe("Languages of the text, if more than one."),
  sensitive: sensitive.describe("Hides the media behind a warning (the label graphic-media)."),
  contentLabel: z.enum(CONTENT_LABELS).optional().describe("A warning of another kind."),
  thread: thread
    .unwrap()
    .max(MAX_THREAD)
    .optional()
    .describe("Posts that follow, each a reply to the one before."),
  replyRules: z
    .union([z.enum(["everybody", "nobody"]), z.array(z.enum(REPLY_RULES)).min(1).max(3)])
    .optional()
    .describe("Who may reply: everybody, nobody, or some of mentioned, followers, following."),
  allowQuotes: z.boolean().optional().describe("False: the post cannot be quoted."),
  allowEdit: z
    .boolean()
    .optional()
    .describe(
      "Lets edit_published_post replace a live post although apps may go on showing the old one and its likes may be lost.",
    ),
});
export type BlueskyMetadata = z.infer<typeof BlueskyMetadata>;
export type BlueskyPost = PlatformPost<BlueskyMetadata>;
