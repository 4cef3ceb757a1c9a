import * as z from "zod";
import type { AcceptedMedia, StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import { hasMention, MENTION } from "../../domain/posts/mentions.ts";
import type { JsonObject, PlatformAccount } from "../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { checkSeen } from "../shared/checks.ts";
import {
  escapeHtml,
  htmlOf,
  type HtmlWays,
  inlineHtml,
  readText,
  type TextFormat,
  textSeen,
} from "../shared/markdown.ts";
import { ACCEPTED, checkFirst, itemsOf } from "../shared/media.ts";

const MIB = 1_024 * 1_024;
const MAX_ITEMS = 20;

/** Of a whole event the specification allows 65,536, and an edit holds the text twice. */
const MAX_EDIT_BYTES = 60_000;
const MAX_CAPTION_BYTES = 25_000;

const { altText, format, moreMedia, thumbnailUrl } = commonMetadata;

/** What a message on Matrix takes beside caption and media. */
export const MatrixMetadata = z.strictObject({
  html: z
    .string()
    .min(1)
    .max(20_000)
    .optional()
    .describe("The text as HTML (bold, links, lists). The caption is for apps without HTML."),
  altText: altText.describe("What the first file shows, used where there is no caption."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_ITEMS - 1, fits(MAX_ITEMS))
    .optional()
    .describe("Up to 19 more files, each a message of its own that follows."),
  thumbnailUrl: thumbnailUrl.describe("Picture shown before the video plays."),
  format,
});
export type MatrixPost = PlatformPost<z.infer<typeof MatrixMetadata>>;

/** Synapse's own, for servers that do not say. */
const USUAL_BYTES = 50 * MIB;

function acceptsOf(maxBytes: number): AcceptedMedia[] {
  const limits = { maxBytes, maxItems: MAX_ITEMS };
  return [
    { kind: "image", mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"], ...limits },
    { kind: "video", mimeTypes: ACCEPTED.video, ...limits },
    { kind: "audio", mimeTypes: ACCEPTED.audio, ...limits },
    { kind: "document", mimeTypes: ACCEPTED.document, ...limits },
  ];
}

export const CAPABILITIES: StatedCapabilities = {
  media: { required: false, maxItems: MAX_ITEMS, accepts: acceptsOf(USUAL_BYTES) },
  caption: { maxLength: MAX_CAPTION_BYTES, unit: "bytes" },
  // Files go ahead, which no message names.
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 720 },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: { fields: ["caption", "format", "html"] },
  analytics: { account: ["followers"], post: ["likes", "comments"] },
  reconciles: "client_key",
};

/** With what the account's server says of the size of files. */
export function capabilitiesOf({ limits }: Pick<PlatformAccount, "limits">): StatedCapabilities {
  const { maxBytes } = limits;
  if (typeof maxBytes !== "number") return CAPABILITIES;
  return { ...CAPABILITIES, media: { ...CAPABILITIES.media, accepts: acceptsOf(maxBytes) } };
}

/** What a message says, without what it shows. */
export type Text = { readonly msgtype: string; readonly body: string } & JsonObject;

/** A file without a caption is told by its alternative text. */
export function textFor({ caption, mediaUrl, metadata }: MatrixPost): Text {
  if ((caption ?? "") !== "") return textOf(caption ?? "", metadata);
  return textOf(itemsOf({ mediaUrl, metadata })[0]?.altText ?? "");
}

interface How {
  readonly format?: TextFormat;
  readonly html?: string | undefined;
}

/** Apps show `body` as it is written, and in its place the HTML, where they can. */
export function textOf(text: string, { format: read, html: given }: How = {}): Text {
  const html = given ?? made(text, read);
  return {
    msgtype: "m.text",
    body: textSeen(text, read),
    ...(html === null ? {} : { format: "org.matrix.custom.html", formatted_body: html }),
    ...mentionsOf(text),
  };
}

/** Null where the text is no more than what is written. */
function made(text: string, read: TextFormat): string | null {
  if (read !== "markdown" && !hasMention(text)) return null;
  // Apps would show one space for several.
  const blocks = readText(read === "markdown" ? text : text.replace(/ (?= )/g, "\u00a0"), read);
  const [only] = blocks;
  return blocks.length === 1 && only?.kind === "paragraph"
    ? inlineHtml(only.inlines, WAYS)
    : htmlOf(blocks, WAYS);
}

/** https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes */
const WAYS: HtmlWays = {
  spoiler: (html) => `<span data-mx-spoiler>${html}</span>`,
  mention: (name, id) =>
    isUser(id) ? `<a href="${linkToUser(id)}">@${escapeHtml(name)}</a>` : escapeHtml(`@${name}`),
};

function isUser(id: string): boolean {
  return id.startsWith("@") && id.includes(":");
}

function linkToUser(id: string): string {
  const readable = encodeURIComponent(id).replaceAll("%40", "@").replaceAll("%3A", ":");
  return `https://matrix.to/#/${readable}`;
}

/** Only who is named here is pinged, whatever the text says. */
function mentionsOf(text: string): { "m.mentions": { user_ids?: string[] } } {
  const ids = [...text.matchAll(MENTION)].flatMap(([, , id = ""]) => (isUser(id) ? [id] : []));
  return { "m.mentions": ids.length === 0 ? {} : { user_ids: [...new Set(ids)] } };
}

export function check(post: MatrixPost, { media }: Pick<CheckedAt, "media">): CheckResult {
  const { caption, mediaUrl, metadata } = post;
  const errors = checkFirst(post, "file");
  if (metadata.html !== undefined && (caption ?? "") === "")
    errors.push("metadata.html: give the same text as caption too, for apps that show no HTML.");
  const isOther = (media.get(mediaUrl)?.type ?? "video") !== "video";
  if (metadata.thumbnailUrl !== undefined && (mediaUrl === "" || isOther)) errors.push(NO_THUMBNAIL);
  if (metadata.html !== undefined && metadata.format === "markdown")
    errors.push(
      "metadata.html: with format markdown, the HTML is made of the caption. Leave one of them out.",
    );
  errors.push(...checkSeen("caption", caption, metadata.format));
  const { body, formatted_body: html = "" } = textFor(post);
  const bytesOf = (text: unknown): number => Buffer.byteLength(JSON.stringify(text));
  if (2 * bytesOf(body) + bytesOf(html) > MAX_EDIT_BYTES)
    errors.push("caption: is too long for a message on Matrix together with its HTML. Shorten it.");
  const isUntold = (caption ?? "") !== "" && (metadata.altText ?? "") !== "";
  return { errors, warnings: isUntold ? [UNTOLD] : [] };
}

const UNTOLD =
  "metadata.altText: Matrix has one text for a file, and this post's caption is it. The post goes out without altText.";

export const NO_THUMBNAIL =
  "metadata.thumbnailUrl: only a video has one on Matrix. Give a video as mediaUrl, or leave it out.";
