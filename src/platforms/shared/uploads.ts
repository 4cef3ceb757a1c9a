import { MINUTE, SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import {
  PlatformFault,
  type PlatformIo,
  type PlatformRequest,
  type PlatformResponse,
  type SignedRequest,
} from "../../ports/platform-io.ts";

/** A part of a file; `end` is its last byte. */
interface Chunk {
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
  readonly isLast: boolean;
}

interface Cut {
  readonly totalBytes: number;
  readonly chunkBytes: number;
  /** The first byte that is wanted; default 0. */
  readonly from?: number;
  /** The last chunk holds what is left over too, up to twice as much less one byte (TikTok). */
  readonly lastTakesRest?: boolean;
}

/** The chunk that begins at `from`; null where nothing is left. */
export function chunkAt({ totalBytes, chunkBytes, from = 0, lastTakesRest = false }: Cut): Chunk | null {
  if (from >= totalBytes) return null;
  const left = totalBytes - from;
  const isLast = left <= chunkBytes || (lastTakesRest && left < 2 * chunkBytes);
  const sizeBytes = isLast ? left : chunkBytes;
  const index = Math.floor(from / chunkBytes);
  return { index, start: from, end: from + sizeBytes - 1, sizeBytes, isLast };
}

/** Uploads may take long on a thin line. */
export const UPLOAD_TIMES = { timeoutMs: 15 * MINUTE, idleMs: 30 * SECOND } as const;

interface ChunkedUpload extends Omit<Cut, "totalBytes"> {
  readonly item: Pick<MediaItem, "open" | "facts">;
  /** Of every chunk: the session's address, how it is signed, how its answers are read. */
  readonly request: Omit<SignedRequest, "method" | "body" | "json" | "form" | "multipart">;
  /** Awaited before each chunk: the platform has taken all that comes before it. */
  before?(chunk: Chunk): Promise<void>;
}

/**
 * Sends a file by PUT with Content-Range, from an offset on, and gives the last answer. A 308 says how much
 * the platform has (`Range: bytes=0-…`); any other answer, that it has the chunk.
 */
export async function sendInChunks(
  io: Pick<PlatformIo, "request">,
  { item, request, before, ...cut }: ChunkedUpload,
): Promise<PlatformResponse> {
  const { sizeBytes: totalBytes, mimeType } = item.facts;
  let chunk = chunkAt({ ...cut, totalBytes });
  if (chunk === null) throw new Error("There is no content to send.");
  for (;;) {
    const { start, end, sizeBytes } = chunk;
    await before?.(chunk);
    const response = await io.request({
      ...UPLOAD_TIMES,
      // A chunk that comes twice is stored once.
      isIdempotent: true,
      ...request,
      classify: (answer) => request.classify?.(answer) ?? (answer.status === 308 ? "ok" : null),
      method: "PUT",
      headers: {
        "content-type": mimeType,
        ...request.headers,
        "content-length": String(sizeBytes),
        "content-range": `bytes ${start}-${end}/${totalBytes}`,
      },
      body: () => item.open({ start, end }),
    });
    const from = response.status === 308 ? committedBytes(response) : end + 1;
    if (from <= start)
      throw new PlatformFault("transient", "The platform stored nothing of what was uploaded to it.");
    const next = chunkAt({ ...cut, totalBytes, from });
    if (next === null) return response;
    chunk = next;
  }
}

/** How many bytes of a session the platform has, by the `Range` of its 308; 0 where it names none. */
export function committedBytes({ headers }: PlatformResponse): number {
  const last = /^bytes=0-(\d+)$/.exec(headers["range"] ?? "")?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}

const VERSION = { "tus-resumable": "1.0.0" } as const;

/** An upload by tus 1.0 (https://tus.io/protocols/resumable-upload) that exists, at an address that needs no token. */
export interface TusUpload {
  readonly url: string;
  readonly classify?: PlatformRequest["classify"];
}

/** How many bytes the server has; null where it does not know the upload (any more). */
export async function tusOffset(
  io: Pick<PlatformIo, "request">,
  { url, classify }: TusUpload,
): Promise<number | null> {
  const { status, headers } = await io.request({
    method: "HEAD",
    url,
    headers: VERSION,
    classify: (answer) => (isGone(answer) ? "ok" : (classify?.(answer) ?? null)),
  });
  return isGone({ status }) ? null : offsetOf(headers);
}

/** Sends the rest of a file from an offset on. A chunk that comes twice is refused, and stored once. */
export async function sendByTus(
  io: Pick<PlatformIo, "request">,
  {
    item,
    from,
    chunkBytes,
    url,
    classify,
  }: TusUpload & {
    readonly item: Pick<MediaItem, "open" | "facts">;
    readonly from: number;
    readonly chunkBytes: number;
  },
): Promise<void> {
  const totalBytes = item.facts.sizeBytes;
  let chunk = chunkAt({ totalBytes, chunkBytes, from });
  while (chunk !== null) {
    const { start, end, sizeBytes } = chunk;
    const { headers } = await io.request({
      ...UPLOAD_TIMES,
      isIdempotent: true,
      newConnection: true,
      method: "PATCH",
      url,
      headers: {
        ...VERSION,
        "content-type": "application/offset+octet-stream",
        "content-length": String(sizeBytes),
        "upload-offset": String(start),
      },
      body: () => item.open({ start, end }),
      classify: (answer) => {
        if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
          return new PlatformFault(
            "transient",
            "The platform asks for the upload to go on at another address.",
          );
        return classify?.(answer) ?? null;
      },
    });
    const next = offsetOf(headers);
    if (next <= start)
      throw new PlatformFault("transient", "The platform stored nothing of what was uploaded to it.");
    chunk = chunkAt({ totalBytes, chunkBytes, from: next });
  }
}

function isGone({ status }: { readonly status: number }): boolean {
  return status === 404 || status === 410;
}

function offsetOf(headers: Readonly<Record<string, string>>): number {
  const offset = Number(headers["upload-offset"]);
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new PlatformFault("transient", "The platform did not say how much of the upload it has.");
}
