import { buffer } from "node:stream/consumers";
import type { ByteSource } from "../../ports/media-probe.ts";

/** Files in fragments have thousands of boxes; they are not listed to the end. */
const MAX_BOXES = 24;

const HEAD_BYTES = 16;
const SHORT_HEAD_BYTES = 8;

/**
 * A box of an MP4 file and its kin, by its head alone. Places are in bytes from the beginning of the file.
 */
export interface Box {
  readonly type: string;
  /** Where its content begins. */
  readonly contentStart: number;
  /** Null where it goes to the end of what it is in, or where its size cannot be. */
  readonly end: number | null;
}

/** Whether files of the type are made of boxes. */
export function isBoxed(mimeType: string): boolean {
  return /^(video|audio)\/(mp4|quicktime|3gpp)$/.test(mimeType);
}

/**
 * The first boxes of the file, or of what lies between two places in it. ISO 14496-12, 4.2: each box begins
 * with its size, 1 where 64 bits of it follow the type, 0 where it goes to the end.
 */
export async function* listBoxes(
  source: ByteSource,
  start = 0,
  end = source.sizeBytes,
): AsyncGenerator<Box, void> {
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
