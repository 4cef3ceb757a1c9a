import { buffer } from "node:stream/consumers";
import type { ByteSource } from "../../ports/media-probe.ts";

/** Files in fragments have thousands of boxes; theirs are not counted to the end. */
const MAX_BOXES = 24;

const BOX_HEAD_BYTES = 16;
const EBML_HEAD_BYTES = 4 * 1024;
const SEGMENT = 0x18538067;

/**
 * Where the container says that it ends, as far as it says so; null where it does not. A file that ends
 * before that was cut off: its index may be whole all the same, and players would stop in the middle.
 */
export async function announcedEnd(source: ByteSource, mimeType: string): Promise<number | null> {
  if (/^(video|audio)\/(mp4|quicktime|3gpp)$/.test(mimeType)) return endOfBoxes(source);
  return /^(video|audio)\/(webm|x-matroska)$/.test(mimeType) ? endOfSegment(source) : null;
}

/**
 * ISO 14496-12, 4.2: each box begins with its size, 1 where 64 bits of it follow the type, 0 where it goes to
 * the end.
 */
async function endOfBoxes(source: ByteSource): Promise<number | null> {
  let at = 0;
  for (let box = 0; box < MAX_BOXES && at + BOX_HEAD_BYTES <= source.sizeBytes; box += 1) {
    const head = await buffer(source.read({ start: at, end: at + BOX_HEAD_BYTES - 1 }));
    const short = head.readUInt32BE(0);
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short;
    if (size < 8) return null;
    at += size;
  }
  return at;
}

/** RFC 8794: the header, then the segment with everything; each with its id and its size. */
async function endOfSegment(source: ByteSource): Promise<number | null> {
  const head = await buffer(source.read({ start: 0, end: Math.min(EBML_HEAD_BYTES, source.sizeBytes) - 1 }));
  const header = readSize(head, 4);
  if (header === null || header.value === null) return null;
  const at = header.next + header.value;
  if (at + 4 > head.length || head.readUInt32BE(at) !== SEGMENT) return null;
  const segment = readSize(head, at + 4);
  return segment === null || segment.value === null ? null : segment.next + segment.value;
}

/**
 * A variable-size integer: as many bytes as the first has leading zeros, and one; all ones where the size is
 * not known.
 */
function readSize(bytes: Buffer, at: number): { value: number | null; next: number } | null {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > bytes.length) return null;
  const rest = bytes.subarray(at + 1, at + length);
  const value = rest.reduce((sum, byte) => sum * 256 + byte, first & (0xff >> length));
  return { value: value === 2 ** (7 * length) - 1 ? null : value, next: at + length };
}
