import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformPost } from "../../ports/platform.ts";

const { title, tags, altText, moreMedia, thumbnailUrl } = commonMetadata;

/** What an article takes beside its text, which is the caption, and its media, which stand above it. */
export const WordpressMetadata = z.strictObject({
  title: title
    .unwrap()
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("Headline."),
  html: z.boolean().optional().describe("The caption is HTML or blocks, not plain text. Default false."),
  excerpt: z.string().max(5_000).optional().describe("Summary for lists and feeds. Default: the beginning."),
  slug: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "takes lowercase letters, digits and hyphens")
    .max(150)
    .optional()
    .describe("Last part of the address. Default: from the title, with a mark of the post."),
  categories: z
    .array(z.string().regex(/^[1-9]\d{0,9}$/, "must be numbers of categories from list_choices"))
    .max(50)
    .optional()
    .describe("Numbers of categories, from list_choices. Default: the site's own."),
  tags: tags.describe("Tags by name. New ones are made."),
  comments: z.boolean().optional().describe("Whether readers may comment. Default: the site's setting."),
  altText,
  moreMedia,
  thumbnailUrl: thumbnailUrl.describe("Featured image: a picture."),
});
export type WordpressMetadata = z.infer<typeof WordpressMetadata>;
export type WordpressPost = PlatformPost<WordpressMetadata>;

/** The look-up key of the post on the site: no other post has its last 8 characters. */
export function keyOf({ id, metadata }: Pick<WordpressPost, "id" | "metadata">): string {
  const words = metadata.title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const start = (words.length === 0 ? "post" : words.join("-")).slice(0, 60).replace(/-$/, "");
  return `${start}-${id.slice(-8).toLowerCase()}`;
}

export function checkPost({ mediaUrl, metadata }: WordpressPost): { errors: string[]; warnings: string[] } {
  const isAlone = metadata.moreMedia !== undefined && metadata.moreMedia.length > 0 && mediaUrl === "";
  return {
    errors: isAlone ? ["metadata.moreMedia: the first of the media belongs in mediaUrl."] : [],
    warnings: [],
  };
}
