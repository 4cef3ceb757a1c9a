import { AppError } from "../../domain/errors.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { sendBlob, type Blob, type Sending } from "./blob.ts";
import { MAX_IMAGES } from "./metadata.ts";
import type { Part } from "./parts.ts";
import { sendVideo } from "./video.ts";

/**
 * Bluesky's lexicon allows 2 MB since 2026; servers that still hold the older one allow 1 MB, and its apps
 * show no more than 2000 pixels.
 */
export const IMAGE_LIMITS = {
  maxBytes: 1_000_000,
  mimeTypes: ["image/jpeg", "image/png", "image/webp"],
  maxWidth: 2_000,
  maxHeight: 2_000,
} as const satisfies ImageLimits;

/** Media as a part's embed shows it. */
type Shown = {
  readonly kind: "image" | "video";
  readonly blob: Blob;
  readonly altText: string;
  readonly width: number | null;
  readonly height: number | null;
};

/** Brings a part's media to the account's server and gives the embed that shows it; null without media. */
export async function sendMedia(
  part: Part,
  to: { io: PublishIo; name: string; isAgain: boolean },
): Promise<JsonObject | null> {
  const shown: Shown[] = [];
  const items = await openAll(part, to.io);
  for (const [at, item] of items.entries())
    shown.push(await sendOne(item, { ...to, name: `${to.name}.${at + 1}` }));
  return embedOf(shown);
}

/**
 * Opens all of a part's media before anything is sent, so that what cannot be posted is refused as a whole.
 */
async function openAll(part: Part, io: PublishIo): Promise<MediaItem[]> {
  const items: MediaItem[] = [];
  for (const { url, altText } of part.media) items.push(await io.media.item(url, altText));
  const odd = items.find(({ facts }) => facts.type !== "image" && facts.type !== "video");
  if (odd !== undefined) {
    throw new AppError(
      "invalid",
      "mediaUrl: Bluesky takes pictures and videos, and this is neither. Use a JPEG, PNG, WebP or an MP4.",
    );
  }
  const videos = items.filter(({ facts }) => facts.type === "video");
  if (videos.length > 0 && items.length > 1) {
    throw new AppError(
      "invalid",
      "metadata.moreMedia: a Bluesky post shows one video, or up to four pictures. Leave the rest out or use thread.",
    );
  }
  if (videos.some(({ facts }) => facts.mimeType !== "video/mp4")) {
    throw new AppError(
      "invalid",
      "mediaUrl: Bluesky takes videos as MP4 only. Convert it and schedule the post again.",
    );
  }
  if (items.length > MAX_IMAGES)
    throw new AppError(
      "invalid",
      `metadata.moreMedia: a Bluesky post shows at most ${MAX_IMAGES} pictures. Leave the rest out or use thread.`,
    );
  return items;
}

async function sendOne(item: MediaItem, to: Sending): Promise<Shown> {
  const altText = item.altText ?? "";
  if (item.facts.type === "video") {
    const { width, height } = item.facts;
    return { kind: "video", blob: await sendVideo(item, to), altText, width, height };
  }
  const { blob, width, height } = await sendImage(item, to);
  return { kind: "image", blob, altText, width, height };
}

/** The picture, fitted to the limits; also that of a link card. */
export async function sendImage(
  item: MediaItem,
  to: Sending,
): Promise<{ blob: Blob; width: number; height: number }> {
  const { bytes, mimeType, width, height } = await to.io.media.fitImage(item, IMAGE_LIMITS);
  const blob = await sendBlob(to, item.url, { mimeType, sizeBytes: bytes.length, body: bytes });
  return { blob, width, height };
}

function embedOf(shown: readonly Shown[]): JsonObject | null {
  const [first] = shown;
  if (first === undefined) return null;
  if (first.kind === "video") {
    return {
      $type: "app.bsky.embed.video",
      video: first.blob,
      ...(first.altText === "" ? {} : { alt: first.altText }),
      ...aspectRatio(first),
    };
  }
  const images = shown.map((image) => ({ alt: image.altText, image: image.blob, ...aspectRatio(image) }));
  return { $type: "app.bsky.embed.images", images };
}

function aspectRatio({ width, height }: Shown): JsonObject {
  return width === null || height === null || width < 1 || height < 1
    ? {}
    : { aspectRatio: { width, height } };
}
