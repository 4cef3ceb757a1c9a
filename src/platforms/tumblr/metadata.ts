import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckedAt, PlatformPost } from "../../ports/platform.ts";

export const MAX_ITEMS = 30;

const { title, altText, link, moreMedia } = commonMetadata;

/** What a post on Tumblr takes beside its text (the caption) and its media. */
export const TumblrMetadata = z.strictObject({
  title: title.describe("Heading above everything else."),
  tags: z
    .array(
      z
        .string()
        .max(139)
        .refine((tag) => !tag.includes(",") && tag.trim() !== "", "must be a tag without a comma"),
    )
    .max(30)
    .optional()
    .describe("Tags, without #."),
  link: link.describe("Shown as a card below the text."),
  altText: altText.describe("What the first picture shows, for people who cannot see it."),
  moreMedia: z
    .array(moreMedia.unwrap().element)
    .max(MAX_ITEMS - 1)
    .optional()
    .describe("Up to 29 more pictures and sounds, and one film in all."),
  allowReblogs: z.boolean().optional().describe("False: it cannot be reblogged."),
});
export type TumblrMetadata = z.infer<typeof TumblrMetadata>;
export type TumblrPost = PlatformPost<TumblrMetadata>;

/** What is taken and not used is told. */
export function check(
  { mediaUrl, metadata }: TumblrPost,
  { media }: Pick<CheckedAt, "media">,
): { errors: string[]; warnings: string[] } {
  const items = [{ url: mediaUrl, altText: metadata.altText }, ...(metadata.moreMedia ?? [])];
  const isMute = items.some(({ url, altText: alt }) => {
    const type = media.get(url)?.type;
    return (alt ?? "") !== "" && type !== undefined && type !== "image";
  });
  return { errors: [], warnings: isMute ? ["altText: Tumblr shows it only with pictures."] : [] };
}
