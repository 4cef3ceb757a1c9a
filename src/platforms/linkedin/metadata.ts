import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import type { CheckedAt, PlatformPost } from "../../ports/platform.ts";

export const MAX_TEXT = 3_000;
export const MAX_IMAGES = 20;
const MAX_TITLE = 400;

const { title, description, link, altText, moreMedia, thumbnailUrl, firstComment } = commonMetadata;

/** What a post on LinkedIn takes beside caption and media. */
export const LinkedInMetadata = z.strictObject({
  title: title.unwrap().max(MAX_TITLE).optional().describe("Title of the link, or of the video."),
  description: description.describe("Text below the title of the link."),
  link: link.describe(
    "Address shown as a card; not together with media. Give its title, which LinkedIn does not look up.",
  ),
  thumbnailUrl: thumbnailUrl.describe("Picture of the link."),
  altText,
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_IMAGES - 1)
    .optional()
    .describe(`Up to ${MAX_IMAGES - 1} more pictures.`),
  audience: z
    .enum(["PUBLIC", "CONNECTIONS", "LOGGED_IN"])
    .optional()
    .describe("Who can see it; CONNECTIONS for members alone. Default: PUBLIC."),
  disableReshare: z.boolean().optional().describe("True: nobody can share it on."),
  firstComment: firstComment
    .unwrap()
    .min(1)
    .max(1_250)
    .optional()
    .describe("A comment put under the post at once."),
});
export type LinkedInMetadata = z.infer<typeof LinkedInMetadata>;
export type LinkedInPost = PlatformPost<LinkedInMetadata>;

/** Who speaks: a member, or a Page. */
export function authorOf({ settings, platformAccountId }: PlatformAccount): string {
  const author = z.string().safeParse(settings["urn"]);
  return author.success ? author.data : `urn:li:person:${platformAccountId ?? ""}`;
}

export function isPage(account: PlatformAccount): boolean {
  return authorOf(account).startsWith("urn:li:organization:");
}

export function checkPost(
  post: LinkedInPost,
  { account, media }: CheckedAt,
): { errors: string[]; warnings: string[] } {
  const { metadata, mediaUrl, caption } = post;
  const { link, moreMedia: more = [] } = metadata;
  const seen = [mediaUrl, ...more.map(({ url }) => url)].flatMap((url) => media.get(url) ?? []);
  const errors = [
    ...(link !== undefined && mediaUrl !== ""
      ? [
          "metadata.link: LinkedIn shows a link or media, not both. Leave one of them out, or put the link into the caption.",
        ]
      : []),
    ...(link !== undefined && metadata.title === undefined
      ? ["metadata.title: is required with link, because LinkedIn does not look at the page. Give its title."]
      : []),
    ...(link === undefined && metadata.thumbnailUrl !== undefined
      ? ["metadata.thumbnailUrl: is the picture of a link, and there is no link. Leave it out."]
      : []),
    ...(mediaUrl === "" && link === undefined && (caption ?? "").trim() === ""
      ? ["caption: a LinkedIn post needs text, media or a link. Give one of them."]
      : []),
    ...(isPage(account) && metadata.audience === "CONNECTIONS"
      ? ["metadata.audience: a Page has no connections. Leave it out."]
      : []),
    ...mixProblem(
      seen.map(({ type }) => type),
      more.length,
    ),
  ];
  return { errors, warnings: [] };
}

/** What does not go into one post. */
export function mixProblem(types: readonly string[], more: number): string[] {
  return types.includes("video") && more > 0
    ? ["metadata.moreMedia: a LinkedIn post shows one video, or pictures. Leave the rest out."]
    : [];
}
