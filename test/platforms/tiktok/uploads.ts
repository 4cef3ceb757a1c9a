import type { Clock } from "../../../src/ports/clock.ts";

/** What an app shared: an upload, and the post or draft that comes of it. */
export interface Share {
  readonly publishId: string;
  readonly kind: "video" | "photo";
  readonly isDraft: boolean;
  readonly text: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly sizeBytes: number;
  readonly chunkBytes: number;
  readonly mimeTypes: Set<string>;
  readonly startedAt: number;
  readonly parts: Buffer[];
  received: number;
  /** When it was whole, and was seen by whoever may see it. */
  wholeAt: number | null;
  failReason: string | null;
  postId: string | null;
  isGone: boolean;
}

const HOUR = 60 * 60_000;
const MB = 1_000_000;
const TYPES = ["video/mp4", "video/quicktime", "video/webm"];

/** What is wrong with how a film is to be cut; null where nothing is (media-transfer-guide). */
export function cutProblem(source: {
  video_size: number;
  chunk_size: number;
  total_chunk_count: number;
}): string | null {
  const { video_size: size, chunk_size: chunk, total_chunk_count: total } = source;
  if (size < 5 * MB && chunk !== size) return "a small film is one chunk";
  if (chunk > 64 * MB || (chunk < 5 * MB && chunk !== size)) return "chunk_size";
  if (chunk > size) return "chunk_size beyond video_size";
  if (total !== Math.floor(size / chunk)) return "total_chunk_count";
  return size > 64 * MB && total < 2 ? "more than 64 MB in one chunk" : null;
}

interface Put {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer[];
}

/** Takes a chunk: strictly in order, whole, and within the hour. */
export function takeChunk(
  share: Share,
  { headers, bytes }: Put,
  {
    clock,
    wrong,
    keepsBytes,
  }: { readonly clock: Pick<Clock, "now">; readonly wrong: string[]; readonly keepsBytes: boolean },
): number {
  if (headers["authorization"] !== undefined) wrong.push("a token with the bytes of a film");
  const type = headers["content-type"] ?? "";
  if (!TYPES.includes(type)) wrong.push(`content-type ${type}`);
  share.mimeTypes.add(type);
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "");
  const sent = bytes.reduce((sum, part) => sum + part.length, 0);
  if (range === null || headers["content-length"] !== String(sent)) {
    wrong.push(`content-range ${headers["content-range"]} of ${sent} bytes`);
    return 400;
  }
  const [first = 0, last = 0, total = 0] = range.slice(1).map(Number);
  if (clock.now() - share.startedAt > HOUR || share.isGone) return 403;
  if (total !== share.sizeBytes || last - first + 1 !== sent || last >= total) return 416;
  if (first !== share.received) return 416;
  const count = Math.floor(share.sizeBytes / share.chunkBytes);
  const isLast = first === (count - 1) * share.chunkBytes;
  if (sent !== (isLast ? share.sizeBytes - first : share.chunkBytes)) return 416;
  if (keepsBytes) share.parts.push(...bytes);
  share.received += sent;
  if (!isLast) return 206;
  share.wholeAt = clock.now();
  return 201;
}
