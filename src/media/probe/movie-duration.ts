import { buffer } from "node:stream/consumers";
import type { ByteSource } from "../../ports/media-probe.ts";
import { isBoxed, listBoxes, type Box } from "./boxes.ts";

/** The largest header: of version 1, up to the duration. */
const HEADER_BYTES = 32;

/** A duration of all ones is not known. */
const UNKNOWN: readonly number[] = [0xffff_ffff, 2 ** 64];

/**
 * The seconds that the header of an MP4 file or its kin gives; null for others, and where it says none, as in
 * files in fragments. mediabunny would read the whole tables of samples for it: four seconds and 300 MiB for
 * ten hours of film.
 */
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
