import type { MediaKind } from "../../domain/accounts/account.ts";
import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";

/** A picture, video or sound of a post, as its author gives it. */
export interface PostItem {
  readonly url: string;
  /** Null where none was given. */
  readonly altText: string | null;
}

export interface WithItems {
  /** "" for a post that has none. */
  readonly mediaUrl: string;
  readonly metadata: {
    readonly altText?: string | undefined;
    readonly moreMedia?:
      readonly { readonly url: string; readonly altText?: string | undefined }[] | undefined;
  };
}

/** Opens them one after the other: a bad one is found before anything is sent. */
export async function openAll(
  items: readonly { readonly url: string; readonly altText?: string | null | undefined }[],
  io: Pick<PublishIo, "media">,
): Promise<MediaItem[]> {
  const opened: MediaItem[] = [];
  for (const { url, altText } of items) opened.push(await io.media.item(url, altText));
  return opened;
}

/** The media of a post in their order: `mediaUrl`, which `altText` describes, then `moreMedia`. */
export function itemsOf({ mediaUrl, metadata }: WithItems): PostItem[] {
  const first = mediaUrl === "" ? [] : [{ url: mediaUrl, altText: metadata.altText ?? null }];
  const more = (metadata.moreMedia ?? []).map(({ url, altText }) => ({ url, altText: altText ?? null }));
  return [...first, ...more];
}

/** Every type that the file store tells apart, for platforms that take what comes. */
export const ACCEPTED = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/heic", "image/tiff"],
  video: ["video/mp4", "video/webm", "video/quicktime", "video/x-matroska"],
  audio: ["audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/wav", "audio/flac"],
} as const satisfies Readonly<Record<MediaKind, readonly string[]>>;

const ENDINGS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
};

/**
 * What a file of this type is called, by its bytes: what an address ends in may be anything. `name`: before
 * the dot; left out, what kind it is ("image.jpg").
 */
export function fileNameOf(mimeType: string, name = mimeType.slice(0, mimeType.indexOf("/"))): string {
  return `${name}.${ENDINGS[mimeType] ?? mimeType.slice(mimeType.indexOf("/") + 1)}`;
}

interface Fetching {
  /** Of pictures. */
  readonly limits: ImageLimits;
  /** How long the platform may take to fetch it. */
  readonly minutes: number;
}

/**
 * The address that a platform fetches it from: as it is, or of a copy that it takes. Addresses of users may
 * hold letters of any kind; fetchers read ASCII.
 */
export async function asciiAddressOf(
  io: Pick<PublishIo, "media">,
  item: MediaItem,
  { limits, minutes }: Fetching,
): Promise<string> {
  const fitted = item.facts.type === "image" ? await io.media.fitImage(item, limits) : null;
  const shown = fitted?.isChanged === true ? fitted : item;
  return new URL(await io.media.publicUrl(shown, minutes)).href;
}

type Accepts = PlatformCapabilities["media"]["accepts"];

/** A picture within the limits, as a part of a form. */
export async function picturePart(
  name: string,
  item: MediaItem,
  { io, accepts }: { readonly io: PublishIo; readonly accepts: Accepts },
): Promise<FormPart> {
  const limits = accepts.find(({ kind }) => kind === "image");
  if (limits === undefined || typeof limits.maxBytes !== "number")
    throw new AppError("invalid", `${name}: this server takes no pictures.`);
  const { maxBytes, mimeTypes, maxWidth, maxHeight } = limits;
  const sides = maxWidth === undefined || maxHeight === undefined ? {} : { maxWidth, maxHeight };
  const fitted = await io.media.fitImage(item, { maxBytes, mimeTypes, ...sides });
  return { name, fileName: fileNameOf(fitted.mimeType), mimeType: fitted.mimeType, bytes: fitted.bytes };
}

/** A picture, or what is sent as it is, as a part of a form; large files are read as they are sent. */
export async function filePart(
  name: string,
  item: MediaItem,
  at: { readonly io: PublishIo; readonly accepts: Accepts },
): Promise<FormPart> {
  const { type, mimeType, sizeBytes } = item.facts;
  if (type === "image") return picturePart(name, item, at);
  return { name, fileName: fileNameOf(mimeType), mimeType, sizeBytes, open: () => item.open() };
}
