import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformPost } from "../../ports/platform.ts";

const { title, description, tags, altText, moreMedia, thumbnailUrl } = commonMetadata;

/** What an article on Ghost takes beside its text and media. */
export const GhostMetadata = z.strictObject({
  title: title
    .unwrap()
    .max(255)
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Title, max. 255 characters."),
  description: description.unwrap().max(300).optional().describe("Excerpt, max. 300 characters."),
  tags: tags.describe("Tags. The first is the main one. Those that begin with # are internal."),
  altText,
  moreMedia: moreMedia.describe("Further media. Pictures in a row become a gallery."),
  thumbnailUrl: thumbnailUrl.describe("Feature image."),
  format: z
    .enum(["text", "markdown", "html"])
    .optional()
    .describe("What the caption is written in. Default: text, shown as it is."),
  slug: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase letters, digits and hyphens")
    .max(185)
    .optional()
    .describe("End of the article's address. Default: made from the title."),
  audience: z
    .enum(["public", "members", "paid"])
    .optional()
    .describe("Who may read it. Default: the site's setting."),
  featured: z.boolean().optional().describe("Marks it as featured."),
  authors: z
    .array(z.string().min(1).max(191))
    .min(1)
    .max(10)
    .optional()
    .describe("E-mail addresses of the site's staff (list_choices). Default: the site's owner."),
  canonicalUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("Where the article first appeared."),
  newsletter: z
    .string()
    .min(1)
    .max(191)
    .optional()
    .describe(
      "Slug of a newsletter (list_choices) that mails it to its subscribers. This cannot be undone. Default: no mail.",
    ),
});
export type GhostMetadata = z.infer<typeof GhostMetadata>;
export type GhostPost = PlatformPost<GhostMetadata>;

export function check({ mediaUrl, metadata }: GhostPost): { errors: string[]; warnings: string[] } {
  const errors =
    mediaUrl === "" && metadata.moreMedia !== undefined && metadata.moreMedia.length > 0
      ? ["metadata.moreMedia: the first of the media belongs in mediaUrl."]
      : [];
  const warnings =
    metadata.newsletter === undefined
      ? []
      : ["metadata.newsletter: the post is mailed to the newsletter's subscribers when it goes out."];
  return { errors, warnings };
}
