import { AppError } from "../../domain/errors.ts";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { MEDIA_KINDS } from "../../domain/accounts/account.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { ACCEPTED } from "../shared/media/accepted.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { MAX_ITEMS, mixProblem, NO_COVER, urlsOf, type TelegramPost } from "./metadata.ts";

const MB = 1_000_000;

/** https://core.telegram.org/bots/api#sending-files */
const MAX_PHOTO_BYTES = 10 * MB;
const MAX_FILE_BYTES = 50 * MB;

/** Telegram keeps no more pixels of a photo (https://core.telegram.org/api/files#image-thumbnail-types). */
const PHOTO_LIMITS = {
  maxBytes: MAX_PHOTO_BYTES,
  mimeTypes: ["image/jpeg", "image/png", "image/webp"],
  maxWidth: 2_560,
  maxHeight: 2_560,
} as const satisfies ImageLimits;

const GIF_LIMITS: ImageLimits = { maxBytes: MAX_FILE_BYTES, mimeTypes: ["image/gif"] };
const DOCUMENT_LIMITS: ImageLimits = { maxBytes: MAX_FILE_BYTES, mimeTypes: ACCEPTED.image };
const COVER_LIMITS: ImageLimits = { ...PHOTO_LIMITS, mimeTypes: ["image/jpeg"] };

/** What Telegram's apps show in the chat; everything else is a file to download. */
export const SHOWN: readonly AcceptedMedia[] = [
  {
    kind: "image",
    ...PHOTO_LIMITS,
    maxItems: MAX_ITEMS,
    minAspectRatio: 1 / 20,
    maxAspectRatio: 20,
    animated: false,
  },
  { kind: "image", mimeTypes: ["image/gif"], maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
  { kind: "video", mimeTypes: ["video/mp4"], maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
  { kind: "audio", mimeTypes: ["audio/mpeg", "audio/mp4"], maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
];

export const DOCUMENTS: readonly AcceptedMedia[] = MEDIA_KINDS.map((kind) => ({
  kind,
  mimeTypes: ACCEPTED[kind],
  maxBytes: MAX_FILE_BYTES,
  maxItems: MAX_ITEMS,
}));

/** As the methods and the types of media call it. */
export type Kind = "photo" | "video" | "animation" | "audio" | "document";

/** An item that is ready to be sent. */
export interface Sendable {
  readonly kind: Kind;
  /** The file, as a part of this name. */
  file(name: string): FormPart;
  /** What is told of it beside the file. */
  readonly figures: JsonObject;
}

/** All of a post's media, checked before anything is sent, so that what cannot be posted is refused as a whole. */
export async function openAll(post: TelegramPost, io: PublishIo): Promise<readonly MediaItem[]> {
  const items: MediaItem[] = [];
  for (const url of urlsOf(post)) items.push(await io.media.item(url));
  const asDocument = post.metadata.asDocument === true;
  const kinds = items.map(({ facts }) => facts);
  const mixed = mixProblem(kinds, { isAlbum: items.length > 1, asDocument });
  if (mixed !== null) throw new AppError("invalid", mixed);
  if (post.metadata.thumbnailUrl !== undefined && (asDocument || kinds[0]?.type !== "video"))
    throw new AppError("invalid", NO_COVER);
  return items;
}

export interface Showing {
  readonly asDocument: boolean;
  readonly isAlbum: boolean;
}

export async function toSendable(item: MediaItem, how: Showing, io: PublishIo): Promise<Sendable> {
  if (item.facts.type === "image") return toPicture(item, how, io);
  const { type, width, height, durationSeconds, mimeType, sizeBytes } = item.facts;
  const file = (name: string): FormPart => ({
    name,
    fileName: fileNameOf(mimeType, how.asDocument ? "file" : type),
    mimeType,
    sizeBytes,
    open: () => item.open(),
  });
  if (how.asDocument) return { kind: "document", file, figures: {} };
  const duration = durationSeconds === null ? {} : { duration: Math.round(durationSeconds) };
  if (type === "audio") return { kind: "audio", file, figures: duration };
  const size = width === null || height === null ? {} : { width, height };
  return { kind: "video", file, figures: { ...duration, ...size, supports_streaming: true } };
}

async function toPicture(item: MediaItem, how: Showing, io: PublishIo): Promise<Sendable> {
  const isGif = item.facts.mimeType === "image/gif" && !how.isAlbum;
  const shown = isGif ? GIF_LIMITS : PHOTO_LIMITS;
  const limits = how.asDocument ? DOCUMENT_LIMITS : shown;
  const picture = isGif ? "animation" : "photo";
  const { bytes, mimeType } = await io.media.fitImage(item, limits);
  return {
    kind: how.asDocument ? "document" : picture,
    file: (name) => ({ name, fileName: fileNameOf(mimeType, "picture"), mimeType, bytes }),
    figures: {},
  };
}

/** The field `cover` names the part that holds it. */
export const COVER_PART = "cover_file";

export async function toCover(url: string, io: PublishIo): Promise<FormPart> {
  const { bytes, mimeType } = await io.media.fitImage(await io.media.item(url), COVER_LIMITS);
  return { name: COVER_PART, fileName: "cover.jpg", mimeType, bytes };
}
