import { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { keyOfCleanCopy, nameInAddress, titleOfFile } from "../../domain/files/file.ts";
import { MINUTE } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import type { FileStore } from "../../ports/file-store.ts";
import type {
  FittedImage,
  MediaItem,
  MediaOwner,
  MediaSource,
  OwnFile,
  PostMedia,
} from "../../ports/media.ts";
import type { MediaProbe } from "../../ports/media-probe.ts";
import type { Outbound } from "../../ports/outbound.ts";
import { isPublicUrl } from "../outbound/addresses.ts";
import { createFolderStore } from "../stores/folder-store.ts";
import { keepCopy, keyOfCopy, nameOfCleanCopy, nameOfCopy, typeOfCopy, type CopyStore } from "./copies.ts";
import { createSpool, type Spool } from "./spool.ts";

const OWN_SCHEME = "r2://";

const MAX_BYTES = 4 * 1024 ** 3;

export interface MediaSourceOptions {
  readonly outbound: Outbound;
  readonly files: FileStore;
  readonly probe: MediaProbe;
  readonly clock: Clock;
  /** Where remote media is kept while its post is worked on. */
  readonly folder: string;
  /** Where copies for platforms are, if not there as well: they go when this process is done with their post. */
  readonly copies?: CopyStore | undefined;
  /** The owner's file under a key; null for what is missing or another owner's. */
  findFile(ownerId: string, key: string): Promise<OwnFile | null>;
  downloadUrl(fileId: string, lastsMs: number): Promise<string>;
  copyUrl(name: string, lastsMs: number): Promise<string>;
  readonly maxBytes?: number;
}

/** Own files are read in place; remote ones are fetched once into the spool; see ports/media.ts. */
export function createMediaSource(options: MediaSourceOptions): MediaSource {
  const spool = createSpool({ ...options, maxBytes: options.maxBytes ?? MAX_BYTES });
  const { copies = createFolderStore(options.folder) } = options;
  const made = new Map<string, Set<string>>();
  const keep = async (postId: string, name: string, media: MediaItem | FittedImage): Promise<void> => {
    if (options.copies !== undefined) made.set(postId, (made.get(postId) ?? new Set()).add(name));
    await keepCopy(copies, name, media);
  };
  const copyAddress = (name: string, lastsMs: number): Promise<string | null> =>
    copies.temporaryUrl(keyOfCopy(name) ?? name, { lastsMs, mimeType: typeOfCopy(name) });
  return {
    forPost: (owner, signal) => createPostMedia({ options, spool, keep, copyAddress, owner, signal }),
    async release(postId) {
      await spool.release(postId);
      for (const key of [...(made.get(postId) ?? [])].map(keyOfCopy))
        if (key !== null) await copies.remove(key);
      made.delete(postId);
    },
  };
}

interface Post {
  readonly options: MediaSourceOptions;
  readonly spool: Spool;
  readonly keep: (postId: string, name: string, media: MediaItem | FittedImage) => Promise<void>;
  /** Of a copy in a bucket. Null: it is in none. */
  readonly copyAddress: (name: string, lastsMs: number) => Promise<string | null>;
  readonly owner: MediaOwner;
  readonly signal: AbortSignal;
}

type OpenedMedia = Omit<MediaItem, "altText"> & { readonly file: OwnFile | null };

function createPostMedia(post: Post): PostMedia {
  const opened = new Map<string, Promise<OpenedMedia>>();
  const openOnce = (url: string): Promise<OpenedMedia> => {
    const known = opened.get(url);
    if (known !== undefined) return known;
    const opening = openItem(post, url);
    opened.set(url, opening);
    // A source that failed may be asked again.
    opening.catch(() => opened.delete(url));
    return opening;
  };
  return {
    async item(url, altText) {
      const { file, ...item } = await openOnce(url);
      return { ...item, altText: altText ?? file?.altText ?? null };
    },
    async fitImage(item, limits) {
      if (item.facts.type !== "image")
        throw new AppError("invalid", `A picture is needed, and this is ${item.facts.mimeType}.`);
      const { sizeBytes, mimeType } = item.facts;
      return post.options.probe.fitImage(
        { sizeBytes, read: (range) => item.open(range) },
        { mimeType, limits },
        post.signal,
      );
    },
    async publicUrl(media, minutes, { mayBeNear = false, ours = false, keptWith } = {}) {
      const lastsMs = minutes * MINUTE;
      if ("bytes" in media && keptWith !== undefined) {
        const { file: of } = await openOnce(keptWith.url);
        if (of !== null) return cleanAddress(post.options, { picture: media, fileId: of.id, lastsMs });
      }
      const file = "bytes" in media ? null : (await openOnce(media.url)).file;
      if ("bytes" in media || media.convertedFrom !== undefined || (ours && file === null)) {
        const name = nameOfCopy(post.owner.postId, media);
        const url = await post.options.copyUrl(name, lastsMs);
        const isOurs = ours || mayBeNear || isPublicUrl(url);
        const stored = isOurs ? null : await post.copyAddress(name, lastsMs);
        if (!mayBeNear) assertReachable(stored ?? url);
        await post.keep(post.owner.postId, name, media);
        return stored ?? url;
      }
      const url = file === null ? media.url : await ownAddress(post.options, { media, file, ours, lastsMs });
      if (!mayBeNear) assertReachable(url);
      return url;
    },
  };
}

async function openItem(post: Post, url: string): Promise<OpenedMedia> {
  if (url.startsWith(OWN_SCHEME)) return openOwn(post, url);
  const spooled = await post.spool.fetch(url, post.owner, post.signal);
  return { ...spooled, url, title: titleOfFile(nameInAddress(url)), file: null };
}

async function openOwn({ options, owner }: Post, url: string): Promise<OpenedMedia> {
  const key = url.slice(OWN_SCHEME.length);
  const file = await options.findFile(owner.ownerId, key);
  // A store that lost a part of it is as good as one that lost it.
  if (file === null || (await options.files.size(key)) !== file.facts.sizeBytes) {
    throw new AppError(
      "not_found",
      "The file of this post is not in the store any more. Upload it again and change the post.",
    );
  }
  const read = (range: { start?: number; end?: number }): Readable => options.files.read(key, range);
  return { url, title: titleOfFile(file.name), facts: file.facts, file, open: (range = {}) => read(range) };
}

/** Ours: one host for all platforms. The bucket's, where others cannot reach ours. */
async function ownAddress(
  { files, downloadUrl }: MediaSourceOptions,
  { media, file, ours, lastsMs }: { media: MediaItem; file: OwnFile; ours: boolean; lastsMs: number },
): Promise<string> {
  const url = await downloadUrl(file.id, lastsMs);
  if (ours || isPublicUrl(url)) return url;
  const { mimeType } = media.facts;
  return (await files.temporaryUrl(media.url.slice(OWN_SCHEME.length), { lastsMs, mimeType })) ?? url;
}

/** The same of the picture without what is personal, which lies beside the file. */
async function cleanAddress(
  { files, copyUrl }: MediaSourceOptions,
  { picture, fileId, lastsMs }: { picture: FittedImage; fileId: string; lastsMs: number },
): Promise<string> {
  const { bytes, mimeType } = picture;
  const key = keyOfCleanCopy(fileId);
  if ((await files.size(key)) !== bytes.length)
    await files.write(key, Readable.from([bytes]), { sizeBytes: bytes.length });
  const url = await copyUrl(nameOfCleanCopy(fileId, mimeType), lastsMs);
  return isPublicUrl(url) ? url : ((await files.temporaryUrl(key, { lastsMs, mimeType })) ?? url);
}

function assertReachable(url: string): void {
  if (isPublicUrl(url)) return;
  throw new AppError(
    "invalid",
    "The platform fetches media itself and cannot reach this Posthorn. Its operator must set POSTHORN_PUBLIC_URL to an address that is open to the internet, or keep the files in a bucket (POSTHORN_S3_…).",
  );
}
