import { AppError } from "../../domain/errors.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { send } from "./api.ts";
import { GIF_LIMITS, IMAGE_LIMITS, USUAL_VIDEO_SECONDS } from "./capabilities.ts";
import { MAX_ALT_TEXT, type XPost } from "./metadata.ts";
import { ALONE, isAlone, NO_VIDEO, partsOf, type Part } from "./parts.ts";
import { uploadOnce, type Upload, type Uploaded } from "./upload.ts";

/** What of a post, or of one that follows it, is at X already. */
export interface SentMedia {
  readonly ids: readonly string[];
  /** Empty where X did not tell. */
  readonly keys: readonly string[];
  /** Of the picture before the video. */
  readonly thumbnailId: string | null;
}

/** Brings the media of all parts to X, in order. All are opened before the first is sent. */
export async function sendAllMedia(post: XPost, io: PublishIo): Promise<SentMedia[]> {
  const opened: MediaItem[][] = [];
  for (const part of partsOf(post)) opened.push(await openAll(part, io));
  const { thumbnailUrl } = post.metadata;
  const isVideo = opened[0]?.[0]?.facts.type === "video";
  if (thumbnailUrl !== undefined && !isVideo) throw new AppError("invalid", NO_VIDEO);
  const sent: SentMedia[] = [];
  for (const [at, items] of opened.entries()) {
    const uploads: Uploaded[] = [];
    for (const [nth, item] of items.entries()) uploads.push(await sendOne(item, `${at + 1}.${nth + 1}`, io));
    const thumbnailId =
      at === 0 && thumbnailUrl !== undefined
        ? (await sendOne(await io.media.item(thumbnailUrl), "thumbnail", io)).mediaId
        : null;
    const keys = uploads.flatMap(({ mediaKey }) => mediaKey ?? []);
    sent.push({ ids: uploads.map(({ mediaId }) => mediaId), keys, thumbnailId });
  }
  return sent;
}

async function openAll(part: Part, io: PublishIo): Promise<MediaItem[]> {
  const items: MediaItem[] = [];
  for (const { url, altText } of part.media) items.push(await io.media.item(url, altText));
  if (items.length > 1 && items.some(({ facts }) => isAlone(facts))) throw new AppError("invalid", ALONE);
  return items;
}

async function sendOne(item: MediaItem, name: string, io: PublishIo): Promise<Uploaded> {
  const request = { url: item.url, sizeBytes: item.facts.sizeBytes };
  const media = await uploadOnce(io, { step: `media:${name}`, request, open: () => toUpload(item, io) });
  const altText = (item.altText ?? "").trim().slice(0, MAX_ALT_TEXT);
  if (altText !== "" && item.facts.type === "image")
    await describe(io, `alt:${name}`, { id: media.mediaId, metadata: { alt_text: { text: altText } } });
  return media;
}

async function toUpload(item: MediaItem, io: PublishIo): Promise<Upload> {
  const { facts } = item;
  if (facts.type !== "image") {
    return {
      category: (facts.durationSeconds ?? 0) > USUAL_VIDEO_SECONDS ? "amplify_video" : "tweet_video",
      mimeType: facts.mimeType,
      sizeBytes: facts.sizeBytes,
      contentOf: ({ start, end, sizeBytes }) => ({ sizeBytes, open: () => item.open({ start, end }) }),
    };
  }
  const isMoving = isAlone(facts);
  const { bytes, mimeType } = await io.media.fitImage(item, isMoving ? GIF_LIMITS : IMAGE_LIMITS);
  return {
    category: isMoving ? "tweet_gif" : "tweet_image",
    mimeType,
    sizeBytes: bytes.length,
    contentOf: ({ start, end }) => ({ bytes: bytes.subarray(start, end + 1) }),
  };
}

/** The same words put under the same picture twice are there once. */
async function describe(io: PublishIo, step: string, json: JsonObject): Promise<void> {
  await io.effect({
    step,
    request: json,
    send: async () => {
      await send(io, { method: "POST", path: "/2/media/metadata", json, isIdempotent: true });
      return null;
    },
    settle: async () => ({ outcome: "send_again" }),
  });
}
