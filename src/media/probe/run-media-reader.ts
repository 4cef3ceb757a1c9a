import { DAMAGED } from "./plain-image.ts";
import { damagedMedia } from "./other-kinds.ts";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { AppError, type ErrorKind } from "../../domain/errors.ts";
import type { FittedImage } from "../../ports/media.ts";
import type {
  ByteSource,
  ImageWanted,
  MediaFormat,
  MediaProbe,
  ProbedMedia,
} from "../../ports/media-probe.ts";
import { endOfTag, HEAD_BYTES, identify } from "./formats.ts";

/** Both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type ReaderTask =
  | { readonly type: "skills" }
  | { readonly type: "inspect" }
  | ({ readonly type: "fit" } & ImageWanted)
  | { readonly type: "shrink"; readonly size: number };

export type MessageToReader =
  | { readonly type: "file"; readonly sizeBytes: number; readonly task: ReaderTask }
  /** A piece of what was asked for, in order; null after the last. Without them the process is killed. */
  | { readonly type: "bytes"; readonly id: number; readonly bytes: Uint8Array | null };

export type ReaderAnswer =
  | { readonly type: "skills"; readonly skills: Awaited<ReturnType<MediaProbe["skills"]>> }
  | { readonly type: "inspected"; readonly media: ProbedMedia }
  /** `image` is null where the picture fits as it is. */
  | {
      readonly type: "fitted";
      readonly image: FittedImage | null;
      readonly width: number;
      readonly height: number;
    }
  | { readonly type: "shrunk"; readonly bytes: Uint8Array | null }
  | { readonly type: "refused"; readonly kind: ErrorKind; readonly message: string }
  /** A bug, of ours or a library's, with its stack. */
  | { readonly type: "broken"; readonly stack: string };

export type MessageFromReader =
  | { readonly type: "ready" }
  | { readonly type: "read"; readonly id: number; readonly range: ByteRange }
  | ReaderAnswer;

interface ReaderChannel {
  send(message: MessageFromReader): void;
  onMessage(listener: (message: MessageToReader) => void): void;
}

/** Looks at files, whose bytes it asks for. A hostile file may end its process, so it has one of its own. */
export function runMediaReader(channel: ReaderChannel): void {
  const waiting = new Map<number, Readable>();
  let reads = 0;
  const read = (range: ByteRange): Readable => {
    const id = (reads += 1);
    const stream = new Readable({ read: () => {} });
    waiting.set(id, stream);
    channel.send({ type: "read", id, range });
    return stream;
  };
  channel.onMessage((message) => {
    if (message.type === "file") {
      const { sizeBytes, task } = message;
      return void work({ sizeBytes, read }, task).catch(asAnswer).then(channel.send);
    }
    waiting.get(message.id)?.push(message.bytes);
    if (message.bytes === null) waiting.delete(message.id);
  });
  channel.send({ type: "ready" });
}

/** One task, in this process. */
export async function work(source: ByteSource, task: ReaderTask): Promise<ReaderAnswer> {
  if (task.type === "skills") return { type: "skills", skills: (await import("./image.ts")).pictureSkills() };
  if (task.type === "inspect") return { type: "inspected", media: await probe(source) };
  if (task.type === "shrink") return { type: "shrunk", bytes: await shrink(source, task.size) };
  const { fitImage } = await import("./image.ts");
  const bytes = await readFirst(source, source.sizeBytes);
  const image = await fitImage(bytes, task.mimeType, task.limits);
  const { width, height } = image;
  return { type: "fitted", width, height, image: image.isChanged ? image : null };
}

/** An error loses its kind on the way between processes. */
function asAnswer(error: unknown): ReaderAnswer {
  if (error instanceof AppError) return { type: "refused", kind: error.kind, message: error.message };
  return { type: "broken", stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

async function shrink(source: ByteSource, size: number): Promise<Buffer | null> {
  const { type, mimeType } = await identifyBeginning(source);
  if (type !== "image") throw new AppError("unsupported", "This is no picture, so there is no small one.");
  const { shrinkImage } = await import("./image.ts");
  return shrinkImage(await readPicture(source), mimeType, size);
}

const NO_FIGURES = {
  width: null,
  height: null,
  durationSeconds: null,
  pages: null,
  videoCodec: null,
  audioCodec: null,
  isAnimated: false,
} as const;

/** What the bytes themselves say. Throws `invalid` for content that is not taken, damaged, or a bomb. */
export async function probe(source: ByteSource): Promise<ProbedMedia> {
  const format = await identifyBeginning(source);
  const { mimeType } = format;
  if (format.type === "other") return { mimeType, type: "other", ...NO_FIGURES };
  if (format.type === "document") {
    const { inspectDocument, MAX_DOCUMENT_BYTES } = await import("./document.ts");
    const bytes = await readWhole(source, "document", MAX_DOCUMENT_BYTES);
    return { mimeType, type: "document", ...NO_FIGURES, pages: inspectDocument(bytes) };
  }
  if (format.type !== "image") return (await import("./tracks.ts")).probeTracks(source, format);
  const { inspectImage } = await import("./image.ts");
  const found = await inspectImage(await readPicture(source), format).catch((error: unknown) => {
    throw error instanceof AppError && error.message === DAMAGED ? damagedMedia(format, error) : error;
  });
  return { mimeType, type: "image", ...NO_FIGURES, ...found };
}

async function identifyBeginning(source: ByteSource): Promise<MediaFormat> {
  if (source.sizeBytes === 0) throw new AppError("invalid", "The file is empty. Give one with content.");
  const head = await readFirst(source, Math.min(HEAD_BYTES, source.sizeBytes));
  const format = await identify(head);
  return (format.type === "audio" ? await identifyBehindTag(source, head) : null) ?? format;
}

/** A sound may begin with a tag that is longer than what is looked at: it holds the cover. */
async function identifyBehindTag(source: ByteSource, head: Buffer): Promise<MediaFormat | null> {
  const start = endOfTag(head);
  if (start === null || start + BEHIND_TAG_BYTES > source.sizeBytes) return null;
  const format = await identify(
    await buffer(source.read({ start, end: start + BEHIND_TAG_BYTES - 1 })),
  ).catch(() => null);
  return format?.type === "audio" ? format : null;
}

/** Enough to tell a sound by. */
const BEHIND_TAG_BYTES = 1_024;

async function readPicture(source: ByteSource): Promise<Buffer> {
  const { MAX_IMAGE_BYTES } = await import("./image.ts");
  return readWhole(source, "picture", MAX_IMAGE_BYTES);
}

/** What is held whole while it is worked on. */
async function readWhole(source: ByteSource, what: string, maxBytes: number): Promise<Buffer> {
  if (source.sizeBytes <= maxBytes) return readFirst(source, source.sizeBytes);
  throw new AppError(
    "invalid",
    `The ${what} has ${source.sizeBytes} bytes. A ${what} may have at most ${maxBytes}.`,
  );
}

function readFirst(source: ByteSource, bytes: number): Promise<Buffer> {
  return buffer(source.read({ start: 0, end: bytes - 1 }));
}
