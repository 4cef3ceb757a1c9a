import * as z from "zod";
import { type Said, say } from "../../domain/sentences.ts";
import { commonMetadata, fits, pollWithin } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { markdownEscaper } from "../../domain/text/markdown-escaper.ts";
import { keepLines } from "../shared/text.ts";

export const MAX_PICTURES = 20;

const { title, link, moreMedia, sensitive, thumbnailUrl, format } = commonMetadata;

const Community = z
  .string()
  .regex(/^(r\/)?\w[\w-]{1,23}$/, "must be the name of a community, such as pics, or u_name for a profile");

const MAX_CROSSPOSTS = 10;

/** "t3_1abc", "1abc", or the address of the post's page. */
const POST =
  /^(?:t3_|https:\/\/(?:www\.|old\.)?reddit\.com\/(?:r|user)\/[\w-]{1,30}\/comments\/)?([a-z0-9]{4,12})(?:\/[^\s]{0,300})?$/;

/** What a post on Reddit takes beside its body (the caption) and its media. */
export const RedditMetadata = z.strictObject({
  subreddit: Community.describe(
    "The community, such as pics, or u_name for the account's own profile (list_choices).",
  ),
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
    .describe("Words of a flair, where it lets you choose them.")
    .meta({ title: "Text of the flair" }),
  moreMedia: z
    .array(moreMedia.unwrap().element.omit({ altText: true }))
    .max(MAX_PICTURES - 1, fits(MAX_PICTURES))
    .optional()
    .describe(`Up to ${MAX_PICTURES - 1} more pictures of a gallery.`),
  thumbnailUrl: thumbnailUrl.describe("Still picture of a video. Reddit requires it."),
  sensitive: sensitive.describe("Marks it as NSFW."),
  spoiler: z.boolean().optional().describe("Hides it until it is clicked."),
  sendReplies: z
    .boolean()
    .optional()
    .describe("False: no messages about comments come to the account.")
    .meta({ title: "Messages about comments" }),
  format: format.describe("How the caption is read: plain (default), or markdown, as Reddit has it."),
  markdown: z.boolean().optional().describe("True: an older way to say format markdown."),
  poll: pollWithin({
    maxOptions: 6,
    maxOptionLength: 120,
    minHours: 24,
    maxHours: 168,
    takesMultiple: false,
  }).describe(
    "A poll in place of media or a link, open for whole days: hours is 24 to 168, in steps of 24. The title asks.",
  ),
  crosspost: z
    .string()
    .regex(POST, "must be the address or the id of a post on Reddit")
    .optional()
    .describe("Another post on Reddit to show under this title: its address, or its id.")
    .meta({ title: "Crossposted post" }),
  crosspostTo: z
    .array(Community)
    .max(MAX_CROSSPOSTS)
    .optional()
    .describe("Further communities that the post is crossposted to once it is live.")
    .meta({ title: "Crosspost to" }),
});
export type RedditMetadata = z.infer<typeof RedditMetadata>;
export type RedditPost = PlatformPost<RedditMetadata>;

/** Without r/ before it. */
export function communityOf({ metadata }: Pick<RedditPost, "metadata">): string {
  return nameOf(metadata.subreddit);
}

function nameOf(community: string): string {
  return community.replace(/^r\//, "");
}

export function crosspostsOf({ metadata: { crosspostTo = [] } }: RedditPost): readonly string[] {
  return crosspostTo.map(nameOf);
}

/** The full name of the post that is shown; null: none is. */
export function shownPostOf({ metadata: { crosspost } }: RedditPost): string | null {
  const [, id] = POST.exec(crosspost ?? "") ?? [];
  return id === undefined ? null : `t3_${id}`;
}

/** What the schema cannot say. */
export function check(
  { caption, mediaUrl, metadata }: RedditPost,
  { media }: Pick<CheckedAt, "media">,
): CheckResult {
  const { link, moreMedia = [], thumbnailUrl, flairId, flairText } = metadata;
  const types = [mediaUrl, ...moreMedia.map(({ url }) => url)].map((url) => media.get(url)?.type);
  const isFilm = types.includes("video");
  const errors: Said[] = [];
  if (link !== undefined && mediaUrl !== "")
    errors.push("metadata.link: a post on Reddit has either a link or media. Put the link into the caption.");
  if (types.length > 1 && isFilm)
    errors.push(
      "metadata.moreMedia: a post on Reddit shows one video, or up to 20 pictures. Leave the rest out.",
    );
  if (isFilm && thumbnailUrl === undefined)
    errors.push("metadata.thumbnailUrl: Reddit takes no video without a still picture. Give one.");
  errors.push(...checkKind({ mediaUrl, caption, metadata }), ...checkCommunities(metadata));
  if (flairText !== undefined && flairId === undefined)
    errors.push(
      say("needs metadata.flairId.", {
        field: "metadata.flairText",
        next: [{ do: "choose", field: "flairId" }],
      }),
    );
  const warnings =
    thumbnailUrl !== undefined && types[0] === "image"
      ? ["Only videos have a still picture: metadata.thumbnailUrl is not used."]
      : [];
  return { errors, warnings };
}

function checkKind({
  caption,
  mediaUrl,
  metadata: { poll, crosspost, link },
}: Pick<RedditPost, "caption" | "mediaUrl" | "metadata">): string[] {
  const hasOther = mediaUrl !== "" || link !== undefined;
  return [
    ...(poll !== undefined && hasOther
      ? ["metadata.poll: a post on Reddit has either a poll, or media or a link. Leave the others out."]
      : []),
    ...(poll !== undefined && poll.hours % 24 !== 0
      ? ["metadata.poll.hours: Reddit's polls are open for whole days. Give 24, 48, 72, 96, 120, 144 or 168."]
      : []),
    ...(crosspost !== undefined && (hasOther || poll !== undefined || (caption ?? "") !== "")
      ? [
          "metadata.crosspost: shows the other post alone, under your title. Leave caption, media, link and poll out.",
        ]
      : []),
  ];
}

function checkCommunities({ subreddit, crosspostTo = [] }: RedditMetadata): string[] {
  const all = [subreddit, ...crosspostTo].map((one) => nameOf(one).toLowerCase());
  return new Set(all).size === all.length
    ? []
    : ["metadata.crosspostTo: names a community twice, or the post's own. Leave it out there."];
}

/** https://www.reddit.com/wiki/markdown: emphasis, code, superscript, spoilers, tables, links, entities. */
const escapeMarkdown = markdownEscaper({ starts: "#>+=-", signs: "\\\\*_~`^|[\\]<>&" });

/** As a plain text, which Reddit counts with its escapes. */
function escape(text: string): string {
  return keepLines(escapeMarkdown(text));
}

export function measure(text: string): number {
  return [...escape(text)].length;
}

export function formatOf({ format, markdown }: Partial<RedditMetadata>): RedditMetadata["format"] {
  return markdown === true ? "markdown" : format;
}

/** The body as Reddit is given it: read character by character, each line a line, unless it is Markdown. */
export function bodyOf({ caption, metadata }: RedditPost): string {
  const text = caption ?? "";
  return formatOf(metadata) === "markdown" ? text : escape(text);
}
