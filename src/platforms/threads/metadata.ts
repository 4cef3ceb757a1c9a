import * as z from "zod";
import { graphemesOf, measureText } from "../../domain/posts/caption.ts";
import { commonMetadata, fits, pollWithin } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, GatedOption, PlatformPost } from "../../ports/platform.ts";
import { hasScope, MORE } from "../shared/consent.ts";

export const MAX_ITEMS = 20;
const MAX_ALT_TEXT = 1_000;
const TOO_LONG = `may have ${MAX_ALT_TEXT} characters on Threads`;

const { altText, moreMedia, thread, link, sensitive } = commonMetadata;

export const LOCATION_SCOPE = "threads_location_tagging";
export const SHARE_SCOPE = "threads_share_to_instagram";
/** What the way that asks for more is for. */
export const WITH_MORE = "places and stories on Instagram";
const CONNECTED_SO = `channels that were connected with ${WITH_MORE}`;

/** What a post on Threads takes beside text and media. */
export const ThreadsMetadata = z.strictObject({
  altText: altText.unwrap().max(MAX_ALT_TEXT).optional().describe("What the first picture or video shows."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_ITEMS - 1, fits(MAX_ITEMS))
    .refine((items) => items.every((item) => (item.altText ?? "").length <= MAX_ALT_TEXT), TOO_LONG)
    .optional()
    .describe("Up to 19 more pictures or videos."),
  thread: thread
    .unwrap()
    .refine((parts) => parts.every((part) => (part.altText ?? "").length <= MAX_ALT_TEXT), TOO_LONG)
    .optional()
    .describe("Posts that follow, each a reply to the one before."),
  link: link.describe("Address shown as a card, only without media."),
  topicTag: z
    .string()
    .regex(/^#?[^.&#]{1,50}$/u, "must have 1 to 50 characters, without . and &")
    .optional()
    .describe("Topic of the post.")
    .meta({ title: "Topic" }),
  replyControl: z
    .enum(["everyone", "accounts_you_follow", "mentioned_only", "parent_post_author_only", "followers_only"])
    .optional()
    .describe("Who may reply.")
    .meta({ title: "Who may reply" }),
  sensitive: sensitive.describe("True: the media are blurred until they are tapped."),
  poll: pollWithin({
    maxOptions: 4,
    maxOptionLength: 25,
    minHours: 24,
    maxHours: 24,
    takesMultiple: false,
  }).describe("A poll below the text, not with media or link. Threads keeps each open for 24 hours."),
  longText: z
    .string()
    .min(1)
    .max(10_000)
    .optional()
    .describe("A longer text behind a card below the post, not with media or poll."),
  gifId: z
    .string()
    .regex(/^[\w-]{1,64}$/, "must be the id of a GIF on GIPHY")
    .optional()
    .describe("Id of a GIF on GIPHY, shown below a text without media.")
    .meta({ title: "GIPHY number of a GIF" }),
  spoilers: z
    .array(z.string().min(1).max(500))
    .min(1)
    .max(10)
    .optional()
    .describe("Up to 10 parts of the text that are hidden until they are tapped, as they stand in it.")
    .meta({ title: "Hidden words" }),
  locationId: z
    .string()
    .regex(/^\d+$/, "must be the id of a place")
    .optional()
    .describe(`Id of a place (list_choices). Only for ${CONNECTED_SO}.`),
  shareToInstagram: z
    .boolean()
    .optional()
    .describe(
      `True: also a story of the Instagram account that is linked to this one. Only for ${CONNECTED_SO}.`,
    )
    .meta({ title: "Share to Instagram stories" }),
  quotePostId: z
    .string()
    .regex(/^\d+$/, "must be the id of a post")
    .optional()
    .describe("Id of a post that is quoted.")
    .meta({ title: "Quoted post" }),
});
export type ThreadsMetadata = z.infer<typeof ThreadsMetadata>;
export type ThreadsPost = PlatformPost<ThreadsMetadata>;

const CONNECT_SO = `Leave it out, or connect the channel again by the way "${MORE}" (with ${WITH_MORE}).`;

export const GATED: readonly GatedOption<keyof ThreadsMetadata>[] = [
  { field: "locationId", who: CONNECTED_SO, instead: CONNECT_SO, mayUse: hasScope(LOCATION_SCOPE) },
  { field: "shareToInstagram", who: CONNECTED_SO, instead: CONNECT_SO, mayUse: hasScope(SHARE_SCOPE) },
];

/** One post of a thread; a post without a thread is one part. */
export interface Part {
  readonly text: string;
  readonly media: readonly { readonly url: string; readonly altText: string | null }[];
}

export function partsOf({ caption, mediaUrl, metadata }: ThreadsPost): [Part, ...Part[]] {
  const first = mediaUrl === "" ? [] : [{ url: mediaUrl, altText: metadata.altText ?? null }];
  const more = (metadata.moreMedia ?? []).map((item) => ({ url: item.url, altText: item.altText ?? null }));
  const rest = (metadata.thread ?? []).map(({ caption: text, mediaUrl: url = "", altText: alt = null }) => ({
    text,
    media: url === "" ? [] : [{ url, altText: alt }],
  }));
  return [{ text: caption ?? "", media: [...first, ...more] }, ...rest];
}

/** What the schema cannot say: the length of each part as Threads counts, and what excludes what. */
export function checkPost(post: ThreadsPost): CheckResult {
  const { link, moreMedia, sensitive: isSensitive } = post.metadata;
  const errors: string[] = [];
  const warnings: string[] = [];
  for (const [at, { text, media }] of partsOf(post).entries()) {
    const field = at === 0 ? "caption" : `metadata.thread[${at - 1}].caption`;
    const length = measure(text);
    if (length > MAX_TEXT)
      errors.push(
        `${field}: has ${length} characters as Threads counts them, and Threads takes ${MAX_TEXT}. Shorten it, or go on in metadata.thread.`,
      );
    else warnings.push(...bytesWarning(field, text));
    if (hasTooManyLinks(text, at === 0 ? link : undefined)) errors.push(`${field}: ${LINKS_SENTENCE}`);
    if (text.trim() === "" && media.length === 0 && (at > 0 || link === undefined))
      errors.push(`${field}: is empty, and there is no media. Give text, a picture or a video.`);
  }
  const hasMedia = post.mediaUrl !== "";
  if (link !== undefined && hasMedia)
    errors.push(
      "metadata.link: Threads shows a card only in posts without media. Put the address into the caption.",
    );
  errors.push(...checkAttached(post), ...checkSpoilers(post));
  if (moreMedia !== undefined && moreMedia.length > 0 && !hasMedia)
    errors.push("metadata.moreMedia: the first picture belongs in mediaUrl.");
  if (isSensitive === true && !hasMedia) errors.push("metadata.sensitive: is only for media. Leave it out.");
  return { errors, warnings: [...warnings, ...spoilerWarning(post)] };
}

/**
 * Meta writes that emoji alone count by their bytes. Posts with other signs were refused all the same, the second
 * part of a thread after the first was out: https://github.com/gitroomhq/postiz-app/pull/1946
 */
function bytesWarning(field: string, text: string): string[] {
  const bytes = Buffer.byteLength(text);
  return bytes <= MAX_TEXT
    ? []
    : [
        `${field}: has ${bytes} bytes in UTF-8. Threads may count these and take at most ${MAX_TEXT}, so it may refuse the text. To be sure, shorten it, or go on in metadata.thread.`,
      ];
}

/** Meta does not say whether it counts an emoji as one or as two. */
function spoilerWarning(post: ThreadsPost): string[] {
  const text = post.caption ?? "";
  const isUnsure = spoilersOf(post).some(({ part }) =>
    /[\u{10000}-\u{10ffff}]/u.test(text.slice(0, text.indexOf(part) + part.length)),
  );
  return isUnsure
    ? [
        "metadata.spoilers: an emoji stands before or in one of them, and Threads does not say how it counts these. It may hide other letters. To be sure, put emoji behind the last of them.",
      ]
    : [];
}

/** https://developers.facebook.com/docs/threads/create-posts: which attachments stand with which. */
function checkAttached({ mediaUrl, metadata: { link, poll, longText, gifId } }: ThreadsPost): string[] {
  const others = [...(mediaUrl === "" ? [] : ["media"]), ...(link === undefined ? [] : ["link"])];
  return [
    ...(poll !== undefined && others.length > 0
      ? [`metadata.poll: Threads takes no ${others.join(" and no ")} beside a poll. Leave one of them out.`]
      : []),
    ...(longText !== undefined && (mediaUrl !== "" || poll !== undefined)
      ? ["metadata.longText: Threads shows it only in posts without media and poll. Leave one of them out."]
      : []),
    ...(gifId !== undefined && mediaUrl !== ""
      ? ["metadata.gifId: Threads shows it only in posts without media. Leave one of them out."]
      : []),
  ];
}

/** A part of a text that is hidden: where it begins and how long it is, in code points. */
interface Spoiler {
  readonly part: string;
  readonly offset: number;
  readonly length: number;
}

/** The parts that stand in the text, the first time each. */
export function spoilersOf({ caption, metadata: { spoilers = [] } }: ThreadsPost): Spoiler[] {
  const text = caption ?? "";
  return spoilers.flatMap((part) => {
    const at = text.indexOf(part);
    return at < 0 ? [] : [{ part, offset: pointsOf(text.slice(0, at)), length: pointsOf(part) }];
  });
}

function pointsOf(text: string): number {
  return [...text].length;
}

/** https://developers.facebook.com/documentation/threads/create-posts/spoilers */
function checkSpoilers(post: ThreadsPost): string[] {
  const found = spoilersOf(post).sort((a, b) => a.offset - b.offset);
  const missing = (post.metadata.spoilers ?? []).filter((part) => found.every((one) => one.part !== part));
  if (missing.length > 0)
    return ["metadata.spoilers: one of them is not in the text. Write it as it stands there."];
  const overlaps = found.some(({ offset }, at) => {
    const before = found[at - 1];
    return before !== undefined && before.offset + before.length > offset;
  });
  return overlaps ? ["metadata.spoilers: two of them overlap. Make one of them."] : [];
}

export const MAX_TEXT = 500;
/** https://developers.facebook.com/docs/threads/overview: since December 2025. */
const MAX_LINKS = 5;

const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Presentation}|\p{Regional_Indicator}|\u20E3/u;

/** Characters, but an emoji counts as many as it has bytes in UTF-8. */
export function measure(text: string): number {
  if (!EMOJI.test(text)) return measureText(text, "characters");
  let length = 0;
  for (const grapheme of graphemesOf(text))
    length += EMOJI.test(grapheme) ? Buffer.byteLength(grapheme) : [...grapheme].length;
  return length;
}

/** Whether a text and the link beside it name more addresses than a post may. */
function hasTooManyLinks(text: string, link: string | undefined): boolean {
  const links = new Set([
    ...(text.match(/\bhttps?:\/\/[^\s<>"]+/gi) ?? []),
    ...(link === undefined ? [] : [link]),
  ]);
  return links.size > MAX_LINKS;
}

const LINKS_SENTENCE = `names more than the ${MAX_LINKS} addresses that Threads takes. Leave some out.`;
