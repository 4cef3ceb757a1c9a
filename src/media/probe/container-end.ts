import { buffer } from "node:stream/consumers";
import type { ByteSource } from "../../ports/media-probe.ts";
import { isBoxed, listBoxes } from "./boxes.ts";

const EBML_HEAD_BYTES = 4 * 1024;
const SEGMENT = 0x18538067;

/**
 * Where the container says that it ends, as far as it says so; null where it does not. A file that ends
 * before that was cut off: its index may be whole all the same, and players would stop in the middle.
 */
export async function announcedEnd(source: ByteSource, mimeType: string): Promise<number | null> {
  if (isBoxed(mimeType)) return endOfBoxes(source);
  return /^(video|audio)\/(webm|x-matroska)$/.test(mimeType) ? endOfSegment(source) : null;
}

async function endOfBoxes(source: ByteSource): Promise<number | null> {
  let at = 0;
  for await (const box of listBoxes(source)) {
    if (box.end === null) return null;
    at = box.end;
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
