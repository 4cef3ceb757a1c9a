import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { Checked, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { markdownEscaper } from "../shared/text.ts";

export const MAX_PICTURES = 20;

const { title, link, moreMedia, sensitive, thumbnailUrl } = commonMetadata;

/** What a post on Reddit takes beside its body (the caption) and its media. */
export const RedditMetadata = z.strictObject({
  subreddit: z
    .string()
    .regex(/^(r\/)?\w[\w-]{1,23}$/, "must be the name of a community, such as pics, or u_name for a profile")
    .describe("The community, such as pics, or u_name for the account's own profile (list_choices)."),
  title: title.unwrap().describe("Title of the post."),
  link: link.describe("Address of a link post, not with media."),
  flairId: z
    .uuid()
    .optional()
    .describe("The post's flair, which some communities ask for (list_choices, searched by community)."),
  flairText: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe("Words of a flair, where it lets you choose them."),
  moreMedia: z
    .array(moreMedia.unwrap().element.omit({ altText: true }))
    .max(MAX_PICTURES - 1)
    .optional()
    .describe(`Up to ${MAX_PICTURES - 1} more pictures of a gallery.`),
  thumbnailUrl: thumbnailUrl.describe("Still picture of a film. Reddit requires it."),
  sensitive: sensitive.describe("Marks it as NSFW."),
  spoiler: z.boolean().optional().describe("Hides it until it is clicked."),
  sendReplies: z.boolean().optional().describe("False: no messages about comments come to the account."),
  markdown: z.boolean().optional().describe("True: the caption is Reddit's Markdown, not plain text."),
});
export type RedditMetadata = z.infer<typeof RedditMetadata>;
export type RedditPost = PlatformPost<RedditMetadata>;

/** Without r/ before it. */
export function communityOf({ metadata }: Pick<RedditPost, "metadata">): string {
  return metadata.subreddit.replace(/^r\//, "");
}

/** What the schema cannot say. */
export function check({ mediaUrl, metadata }: RedditPost, { media }: Pick<CheckedAt, "media">): Checked {
  const { link, moreMedia = [], thumbnailUrl, flairId, flairText } = metadata;
  const types = [mediaUrl, ...moreMedia.map(({ url }) => url)].map((url) => media.get(url)?.type);
  const isFilm = types.includes("video");
  const errors: string[] = [];
  if (link !== undefined && mediaUrl !== "")
    errors.push("metadata.link: a post on Reddit has either a link or media. Put the link into the caption.");
  if (types.length > 1 && isFilm)
    errors.push(
      "metadata.moreMedia: a post on Reddit shows one film, or up to 20 pictures. Leave the rest out.",
    );
  if (isFilm && thumbnailUrl === undefined)
    errors.push("metadata.thumbnailUrl: Reddit takes no film without a still picture. Give one.");
  if (flairText !== undefined && flairId === undefined)
    errors.push("metadata.flairText: needs metadata.flairId. Take that from list_choices.");
  const warnings =
    thumbnailUrl !== undefined && types[0] === "image"
      ? ["Only films have a still picture: metadata.thumbnailUrl is not used."]
      : [];
  return { errors, warnings };
}

/** https://www.reddit.com/wiki/markdown: emphasis, code, superscript, spoilers, tables, links, entities. */
const escapeMarkdown = markdownEscaper({ starts: "#>+=-", signs: "\\\\*_~`^|[\\]<>&" });

/** As a plain text, which Reddit counts with its escapes. */
function escape(text: string): string {
  return escapeMarkdown(text).replace(/(?<!\n)\n(?!\n)/g, "  \n");
}

export function measure(text: string): number {
  return [...escape(text)].length;
}

/** The body as Reddit is given it: read character by character, each line a line, unless it is Markdown. */
export function bodyOf({ caption, metadata }: RedditPost): string {
  const text = caption ?? "";
  return metadata.markdown === true ? text : escape(text);
}
