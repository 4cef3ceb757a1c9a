import * as z from "zod";
import type { MediaFigures } from "../../domain/files/media-limits.ts";
import { commonMetadata, fits, pollWithin } from "../../domain/posts/common-metadata.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkPoll, checkSeen } from "../shared/checks.ts";
import { type Range, rangesOf, readText } from "../shared/markdown.ts";
import { checkFirst, itemsOf } from "../shared/media.ts";

const { format, link, moreMedia, sensitive, thumbnailUrl } = commonMetadata;

/** How many items one album holds; what is beyond it follows in further messages. */
export const ALBUM_ITEMS = 10;
export const MAX_ITEMS = 21;

/** What a post on Telegram takes beside caption and media. There are no alternative texts. */
export const TelegramMetadata = z.strictObject({
  moreMedia: z
    .array(z.strictObject({ url: moreMedia.unwrap().element.shape.url }))
    .max(MAX_ITEMS - 1, fits(MAX_ITEMS))
    .optional()
    .describe("Further media, in one album with mediaUrl. After 10, further messages follow."),
  thumbnailUrl: thumbnailUrl.describe("Cover of the video in mediaUrl."),
  link: link.describe("Address with a preview below the text, not with media."),
  linkPreview: z.boolean().optional().describe("False: no preview of addresses in the text."),
  sensitive: sensitive.describe("Blurs pictures and videos until they are tapped."),
  captionAbove: z
    .boolean()
    .optional()
    .describe("Shows the caption above pictures and videos.")
    .meta({ title: "Text above the media" }),
  silent: z.boolean().optional().describe("Notifies without a sound.").meta({ title: "Send silently" }),
  protectContent: z
    .boolean()
    .optional()
    .describe("Keeps readers from forwarding and saving it.")
    .meta({ title: "No forwarding or saving" }),
  asDocument: z
    .boolean()
    .optional()
    .describe("Sends media as files, at full size (up to 50 MB each).")
    .meta({ title: "Send as files" }),
  topicId: z
    .int()
    .min(1)
    .optional()
    .describe("Id of the topic, in a group that has topics.")
    .meta({ title: "Topic number" }),
  format,
  // Up to 2,628,000 seconds (https://core.telegram.org/bots/api#sendpoll).
  poll: pollWithin({
    maxOptions: 12,
    maxOptionLength: 100,
    minHours: 0.1,
    maxHours: 730,
    takesMultiple: true,
  }),
});
export type TelegramPost = PlatformPost<z.infer<typeof TelegramMetadata>>;

/** The addresses of the post's items, in order. */
export function urlsOf(post: TelegramPost): string[] {
  return itemsOf(post).map(({ url }) => url);
}

/** What the schema cannot say: what excludes what. */
export function checkPost(post: TelegramPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const { metadata, mediaUrl } = post;
  const urls = urlsOf(post);
  const errors = checkFirst(post, "picture or video");
  if (urls.length > 0 && metadata.link !== undefined) {
    errors.push(
      "metadata.link: Telegram shows a preview only below text without media. Put the address into the caption, or leave the media out.",
    );
  }
  errors.push(...checkPoll(post, "Telegram"), ...checkSeen("caption", post.caption, metadata.format));
  if (metadata.poll !== undefined && metadata.link !== undefined)
    errors.push("metadata.link: a poll on Telegram shows no preview. Leave one of them out.");
  if (metadata.linkPreview === false && metadata.link !== undefined)
    errors.push("metadata.link: has no preview with linkPreview false. Leave one of them out.");
  const isOther = (media.get(mediaUrl)?.type ?? "video") !== "video";
  if (metadata.thumbnailUrl !== undefined && (mediaUrl === "" || isOther || metadata.asDocument === true))
    errors.push(NO_COVER);
  const known = urls.flatMap((url) => media.get(url) ?? []);
  const mixed = mixProblem(known, { isAlbum: urls.length > 1, asDocument: metadata.asDocument === true });
  if (mixed !== null) errors.push(mixed);
  return { errors, warnings: urls.length > ALBUM_ITEMS ? [manyMessages(urls.length)] : [] };
}

const ENTITIES = {
  bold: "bold",
  heading: "bold",
  italic: "italic",
  strike: "strikethrough",
  spoiler: "spoiler",
  code: "code",
  quote: "blockquote",
} as const;

/**
 * A text as readers see it, and which places of it look how (https://core.telegram.org/bots/api#messageentity).
 * Without entities, they see every character as it is written.
 */
export function formatted(
  text: string,
  { metadata }: Pick<TelegramPost, "metadata">,
): { readonly text: string; readonly entities: JsonObject[] } {
  const seen = rangesOf(readText(text, metadata.format));
  const entities = seen.ranges.flatMap((range) => {
    const look = lookOf(range, seen.ranges);
    return look === null ? [] : [{ ...look, offset: range.start, length: range.end - range.start }];
  });
  return { text: seen.text, entities };
}

/** What may stand in what: https://core.telegram.org/bots/api#formatting-options */
function lookOf(range: Range, all: readonly Range[]): JsonObject | null {
  // The outer one comes first.
  const around = all.slice(0, all.indexOf(range)).filter(({ end }) => end >= range.end);
  switch (range.kind) {
    case "mention":
      return null;
    case "block":
      return { type: "pre", ...(range.language === "" ? {} : { language: range.language }) };
    case "link":
      // Telegram finds addresses of mail by itself, and opens none behind other words.
      return range.address.startsWith("mailto:") ? null : { type: "text_link", url: range.address };
    case "quote":
      return around.some(({ kind }) => kind === "quote") ? null : { type: ENTITIES.quote };
    case "code":
      return around.some(({ kind }) => kind !== "quote") ? null : { type: ENTITIES.code };
    default:
      return { type: ENTITIES[range.kind] };
  }
}

export const NO_COVER =
  "metadata.thumbnailUrl: Telegram shows a cover only on a video. Give a video as mediaUrl, or leave it out.";

function manyMessages(items: number): string {
  return `metadata.moreMedia: an album on Telegram holds ${ALBUM_ITEMS} items. The ${items} go out as ${Math.ceil(items / ALBUM_ITEMS)} messages one after the other.`;
}

type Kind = Pick<MediaFigures, "type" | "isAnimated" | "mimeType">;

/** Why these cannot stand in one post; null where they can. */
export function mixProblem(
  items: readonly Kind[],
  { isAlbum, asDocument }: { readonly isAlbum: boolean; readonly asDocument: boolean },
): string | null {
  if (asDocument || !isAlbum) return null;
  for (const [alone, word] of Object.entries({ audio: "sound", document: "document" })) {
    const count = items.filter(({ type }) => type === alone).length;
    if (count > 0 && count < items.length)
      return `metadata.moreMedia: Telegram puts ${word}s only into an album of ${word}s. Give only ${word}s or no ${word}, or set asDocument.`;
  }
  if (items.some(({ type, isAnimated }) => type === "image" && isAnimated))
    return "metadata.moreMedia: an animated picture goes without other media on Telegram. Post it separately, give it as a video, or set asDocument.";
  return null;
}
