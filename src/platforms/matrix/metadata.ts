import * as z from "zod";
import type { AcceptedMedia, PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { PlatformAccount } from "../../ports/platform-io.ts";
import type { Checked, CheckedAt, PlatformPost } from "../../ports/platform.ts";
import { ACCEPTED, checkFirst, itemsOf } from "../shared/media.ts";

const MIB = 1_024 * 1_024;
const MAX_ITEMS = 20;

/** Of a whole event the specification allows 65,536, and an edit holds the text twice. */
const MAX_EDIT_BYTES = 60_000;
const MAX_CAPTION_BYTES = 25_000;

const { altText, moreMedia, thumbnailUrl } = commonMetadata;

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
    .max(MAX_ITEMS - 1)
    .optional()
    .describe("Up to 19 more files, each a message of its own that follows."),
  thumbnailUrl: thumbnailUrl.describe("Picture shown before the video plays."),
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
  ];
}

export const CAPABILITIES: PlatformCapabilities = {
  media: { required: false, maxItems: MAX_ITEMS, accepts: acceptsOf(USUAL_BYTES) },
  caption: { maxLength: MAX_CAPTION_BYTES, unit: "bytes" },
  // Files go ahead, which no message names.
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 720 },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: { fields: ["caption", "html"] },
  analytics: { account: ["followers"], post: ["likes", "comments"] },
  reconciles: "client_key",
  fetchesMedia: [],
  quotas: [],
};

/** With what the account's server says of the size of files. */
export function capabilitiesOf({ limits }: Pick<PlatformAccount, "limits">): PlatformCapabilities {
  const { maxBytes } = limits;
  if (typeof maxBytes !== "number") return CAPABILITIES;
  return { ...CAPABILITIES, media: { ...CAPABILITIES.media, accepts: acceptsOf(maxBytes) } };
}

/** A file without a caption is told by its alternative text; apps show the HTML where they can. */
export function bodyOf({ caption, mediaUrl, metadata }: MatrixPost): string {
  return caption || (itemsOf({ mediaUrl, metadata })[0]?.altText ?? "");
}

export function check(post: MatrixPost, { media }: Pick<CheckedAt, "media">): Checked {
  const { caption, mediaUrl, metadata } = post;
  const errors = checkFirst(post, "file");
  if (metadata.html !== undefined && (caption ?? "") === "")
    errors.push("metadata.html: give the same text as caption too, for apps that show no HTML.");
  const isOther = (media.get(mediaUrl)?.type ?? "video") !== "video";
  if (metadata.thumbnailUrl !== undefined && (mediaUrl === "" || isOther)) errors.push(NO_THUMBNAIL);
  const bytesOf = (text = ""): number => Buffer.byteLength(JSON.stringify(text));
  if (2 * bytesOf(caption ?? "") + bytesOf(metadata.html) > MAX_EDIT_BYTES)
    errors.push("caption: is too long for a message on Matrix together with metadata.html. Shorten it.");
  const isUntold = (caption ?? "") !== "" && (metadata.altText ?? "") !== "";
  return { errors, warnings: isUntold ? [UNTOLD] : [] };
}

const UNTOLD =
  "metadata.altText: Matrix has one text for a file, and this post's caption is it. The post goes out without altText.";

export const NO_THUMBNAIL =
  "metadata.thumbnailUrl: only a video has one on Matrix. Give a video as mediaUrl, or leave it out.";
