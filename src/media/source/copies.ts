import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { keyOfCleanCopy } from "../../domain/files/file.ts";
import type { FileStore } from "../../ports/file-store.ts";
import type { FittedImage, MediaItem, PublicMedia } from "../../ports/media.ts";
import { isPublicUrl } from "../outbound/addresses.ts";
import { createFolderStore } from "../stores/folder-store.ts";
import { folderOf } from "./spool.ts";

/** What platforms are shown by address; a name's ending tells what it holds. */
const MIME_TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
  avif: "image/avif",
  tiff: "image/tiff",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

/** Names a copy among all: whose it is, what is in it, and of what type. */
export function nameOfCopy(postId: string, media: MediaItem | FittedImage): string {
  const isFitted = "bytes" in media;
  const mimeType = isFitted ? media.mimeType : media.facts.mimeType;
  const content = isFitted ? media.bytes : media.facts.sha256;
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 32);
  return `${postId}.${digest}.${endingOf(mimeType)}`;
}

/** Of a copy that lies as long as the file that it was made of. */
export function nameOfCleanCopy(fileId: string, mimeType: string): string {
  return `${fileId}.clean.${endingOf(mimeType)}`;
}

function endingOf(mimeType: string): string {
  return Object.entries(MIME_TYPES).find(([, type]) => type === mimeType)?.[0] ?? "bin";
}

export function typeOfCopy(name: string): string {
  return MIME_TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
}

export type CopyStore = Pick<FileStore, "write" | "size" | "read" | "remove" | "temporaryUrl">;

/** The store of all files: any host may be asked for a copy, and a bucket gives it to whom no host can be reached by. */
export function sharedCopies(files: FileStore): CopyStore {
  const keyIn = (key: string): string => `copies/${key}`;
  return {
    write: (key, body, options) => files.write(keyIn(key), body, options),
    size: (key) => files.size(keyIn(key)),
    read: (key, range) => files.read(keyIn(key), range),
    remove: (key) => files.remove(keyIn(key)),
    temporaryUrl: (key, options) => files.temporaryUrl(keyIn(key), options),
  };
}

/** Keeps the copy with the rest of its post's media, which goes when the post is finished. */
export async function keepCopy(
  store: CopyStore,
  name: string,
  media: MediaItem | FittedImage,
): Promise<void> {
  const key = keyOfCopy(name);
  if (key === null) throw new Error(`${name} is no name of a copy.`);
  const isFitted = "bytes" in media;
  const sizeBytes = isFitted ? media.bytes.length : media.facts.sizeBytes;
  if ((await store.size(key)) === sizeBytes) return;
  await store.write(key, isFitted ? Readable.from([media.bytes]) : media.open(), { sizeBytes });
}

/** Null for what never was the name of a copy. */
export function keyOfCopy(name: string): string | null {
  const [postId = "", file = ""] =
    /^([a-z0-9][a-z0-9_]{0,63})\.([0-9a-f]{32}\.[a-z0-9]+)$/.exec(name)?.slice(1) ?? [];
  return file === "" ? null : `${folderOf(postId)}/copy_${file}`;
}

interface PublicMediaOptions {
  readonly folder: string;
  /** Default: the spool. */
  readonly copies?: CopyStore | undefined;
  readonly files: FileStore;
  publicUrl(): Promise<string>;
}

/** What others can fetch from us; see ports/media.ts. */
export function createPublicMedia(options: PublicMediaOptions): PublicMedia {
  const { folder, files, publicUrl, copies: store = createFolderStore(folder) } = options;
  return {
    async openCopy(name) {
      const [, fileId] = /^(file_[a-z0-9_]{1,59})\.clean\.[a-z0-9]+$/.exec(name) ?? [];
      const [from, key] = fileId === undefined ? [store, keyOfCopy(name)] : [files, keyOfCleanCopy(fileId)];
      const sizeBytes = key === null ? null : await from.size(key);
      if (key === null || sizeBytes === null) return null;
      return { mimeType: typeOfCopy(name), sizeBytes, open: (range) => from.read(key, range) };
    },
    async canBeFetched({ ours }) {
      const url = await publicUrl();
      if (url.startsWith("https:") && isPublicUrl(url)) return true;
      const sample = { lastsMs: 0, mimeType: "image/jpeg" };
      return !ours && (await files.temporaryUrl("sample", sample)) !== null;
    },
  };
}
