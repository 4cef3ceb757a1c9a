import type { Readable } from "node:stream";
import type { MediaKind } from "../../domain/accounts/account.ts";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import { NOT_UNCHANGED } from "../../domain/files/media-limits.ts";
import type { ImageLimits, MediaFacts, MediaItem } from "../../ports/media.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";

/** A picture, video, sound or document of a post, as its author gives it. */
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
  return inOrder(items, ({ url, altText }) => io.media.item(url, altText));
}

/** What comes of the work on each, one after the other. */
export async function inOrder<T, R>(
  items: Iterable<T>,
  work: (item: T, at: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item, results.length));
  return results;
}

/** The mistake of further media without a first one. `first`: what it is, "picture" say. */
export function checkFirst({ mediaUrl, metadata }: WithItems, first: string): string[] {
  const isMissing = mediaUrl === "" && (metadata.moreMedia ?? []).length > 0;
  return isMissing ? [`metadata.moreMedia: the first ${first} belongs in mediaUrl.`] : [];
}

/** The media of a post in their order: `mediaUrl`, which `altText` describes, then `moreMedia`. */
export function itemsOf({ mediaUrl, metadata }: WithItems): PostItem[] {
  const first = mediaUrl === "" ? [] : [{ url: mediaUrl, altText: metadata.altText ?? null }];
  const more = (metadata.moreMedia ?? []).map(({ url, altText }) => ({ url, altText: altText ?? null }));
  return [...first, ...more];
}

/** Every type that the file store tells apart, for platforms that take what comes. HEIC is made JPEG for all. */
export const ACCEPTED = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/tiff"],
  video: ["video/mp4", "video/webm", "video/quicktime", "video/x-matroska"],
  audio: ["audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/wav", "audio/flac"],
  document: ["application/pdf"],
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

/** Ten years. */
const LASTING_MINUTES = (3_650 * DAY) / MINUTE;

/**
 * Where a picture lies for good, for platforms that keep none and show it from its own address, now and again. A copy
 * would not stay, so one that would have to be changed is refused. `field`: where its author gave it.
 */
export async function lastingAddress(
  url: string,
  { field, title, limits }: Lasting,
  io: Pick<PublishIo, "media">,
): Promise<string> {
  const item = await io.media.item(url);
  if ((await io.media.fitImage(item, limits)).isChanged)
    throw new AppError("invalid", `${field}: ${title} ${NOT_UNCHANGED}`);
  return new URL(await io.media.publicUrl(item, LASTING_MINUTES)).href;
}

interface Lasting {
  readonly field: string;
  readonly title: string;
  readonly limits: ImageLimits;
}

/** A file as it is sent. */
export interface FittedFile extends Pick<MediaFacts, "type" | "mimeType" | "sizeBytes" | "width" | "height"> {
  /** The bytes; of large files, a fresh stream for each try. */
  readonly body: Buffer | (() => Readable);
}

/** A picture within the limits. */
export async function fitPicture(
  item: MediaItem,
  limits: ImageLimits,
  io: Pick<PublishIo, "media">,
): Promise<FittedFile> {
  const { bytes, mimeType, width, height } = await io.media.fitImage(item, limits);
  return { type: "image", mimeType, sizeBytes: bytes.length, width, height, body: bytes };
}

/** A picture within the limits; all else as it is. */
export async function fitFile(...[item, limits, io]: Parameters<typeof fitPicture>): Promise<FittedFile> {
  return item.facts.type === "image"
    ? fitPicture(item, limits, io)
    : { ...item.facts, body: () => item.open() };
}

/** The file as a part of a form. `called`: as for `fileNameOf`. */
export function toPart(
  name: string,
  { mimeType, sizeBytes, body }: FittedFile,
  called?: string,
): Exclude<FormPart, { readonly text: string }> {
  const file = { name, fileName: fileNameOf(mimeType, called), mimeType };
  return Buffer.isBuffer(body) ? { ...file, bytes: body } : { ...file, sizeBytes, open: body };
}

type Accepts = StatedCapabilities["media"]["accepts"];

interface PartOf {
  readonly io: PublishIo;
  readonly accepts: Accepts;
  readonly called?: string;
}

/** A picture, fitted to what is accepted, as a part of a form. */
export async function picturePart(
  name: string,
  item: MediaItem,
  { io, accepts, called }: PartOf,
): Promise<FormPart> {
  const limits = accepts.find(({ kind }) => kind === "image");
  if (limits === undefined || typeof limits.maxBytes !== "number")
    throw new AppError("invalid", `${name}: this server takes no pictures.`);
  const { maxBytes, mimeTypes, maxWidth, maxHeight } = limits;
  const sides = maxWidth === undefined || maxHeight === undefined ? {} : { maxWidth, maxHeight };
  return toPart(name, await fitPicture(item, { maxBytes, mimeTypes, ...sides }, io), called);
}

/** What a file is called there. People see it of documents, so these keep theirs; `other`: that of all else. */
export function calledOf<T extends string | undefined>(item: MediaItem, other: T): T | string {
  return item.facts.type === "document" ? item.title : other;
}

/** A picture, or what is sent as it is, as a part of a form. */
export async function filePart(name: string, item: MediaItem, at: PartOf): Promise<FormPart> {
  if (item.facts.type === "image") return picturePart(name, item, at);
  return toPart(name, { ...item.facts, body: () => item.open() }, calledOf(item, at.called));
}
