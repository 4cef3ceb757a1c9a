import { buffer } from "node:stream/consumers";
import type { ByteSource } from "../../ports/media-probe.ts";

/*
 * What mediabunny does not tell of a container, or at a price: where it was to end, and how long a film is
 * without its tables of samples.
 */

/** Files in fragments have thousands of boxes; they are not listed to the end. */
const MAX_BOXES = 24;

const HEAD_BYTES = 16;
const SHORT_HEAD_BYTES = 8;

/** The head of a box of an MP4 file. Positions are bytes from the beginning of the file. */
interface Box {
  readonly type: string;
  readonly contentStart: number;
  /** Null where it goes to the end of what it is in, or where its size cannot be. */
  readonly end: number | null;
}

/** Whether files of the type are made of boxes. */
function isBoxed(mimeType: string): boolean {
  return /^(video|audio)\/(mp4|quicktime|3gpp)$/.test(mimeType);
}

/** The first boxes between two positions. ISO 14496-12, 4.2: a size, 1: of 64 bits, 0: to the end. */
async function* listBoxes(source: ByteSource, start = 0, end = source.sizeBytes): AsyncGenerator<Box, void> {
  let at = start;
  for (let count = 0; count < MAX_BOXES && at + HEAD_BYTES <= end; count += 1) {
    const head = await buffer(source.read({ start: at, end: at + HEAD_BYTES - 1 }));
    const short = head.readUInt32BE(0);
    const size = short === 1 ? Number(head.readBigUInt64BE(SHORT_HEAD_BYTES)) : short;
    const isKnown = size >= SHORT_HEAD_BYTES;
    yield {
      type: head.toString("latin1", 4, SHORT_HEAD_BYTES),
      contentStart: at + (short === 1 ? HEAD_BYTES : SHORT_HEAD_BYTES),
      end: isKnown ? at + size : null,
    };
    if (!isKnown) return;
    at += size;
  }
}

const EBML_HEAD_BYTES = 4 * 1024;
const SEGMENT = 0x18538067;

/** Where the container says that it ends. Null: it does not say. A file that ends before was cut off. */
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

/** A size: as many bytes as the first has leading zeros, and one. All ones where it is not known. */
function readSize(bytes: Buffer, at: number): { value: number | null; next: number } | null {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > bytes.length) return null;
  const rest = bytes.subarray(at + 1, at + length);
  const value = rest.reduce((sum, byte) => sum * 256 + byte, first & (0xff >> length));
  return { value: value === 2 ** (7 * length) - 1 ? null : value, next: at + length };
}

/** The largest header: of version 1, up to the duration. */
const HEADER_BYTES = 32;

/** A duration of all ones is not known. */
const UNKNOWN: readonly number[] = [0xffff_ffff, 2 ** 64];

/** The seconds in the header of an MP4 file. mediabunny would read all tables: 300 MiB for ten hours. */
export async function movieDuration(source: ByteSource, mimeType: string): Promise<number | null> {
  if (!isBoxed(mimeType)) return null;
  const movie = await findBox(source, "moov", 0, source.sizeBytes);
  if (movie === null || movie.end === null) return null;
  const header = await findBox(source, "mvhd", movie.contentStart, Math.min(movie.end, source.sizeBytes));
  if (header === null || header.contentStart + HEADER_BYTES > source.sizeBytes) return null;
  const start = header.contentStart;
  return readHeader(await buffer(source.read({ start, end: start + HEADER_BYTES - 1 })));
}

async function findBox(source: ByteSource, type: string, start: number, end: number): Promise<Box | null> {
  for await (const box of listBoxes(source, start, end)) if (box.type === type) return box;
  return null;
}

/** ISO 14496-12, 8.2.2: version and flags, two times, units a second, duration; version 1 has longer ones. */
function readHeader(bytes: Buffer): number | null {
  const isLong = bytes[0] === 1;
  const unitsPerSecond = bytes.readUInt32BE(isLong ? 20 : 12);
  const units = isLong ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
  if (unitsPerSecond === 0 || units === 0 || UNKNOWN.includes(units)) return null;
  return units / unitsPerSecond;
}
