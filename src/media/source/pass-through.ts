import { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { problemOfAnswer, readContentRange } from "../../domain/files/media-answer.ts";
import type { OutboundResponse } from "../../ports/outbound.ts";
import { BLOCK_BYTES, type BlockSums } from "./block-sums.ts";
import { BlockReader, type Block, type Onward } from "./onward.ts";
import {
  asError,
  explainRemote,
  readRemote,
  requestRemote,
  type RemoteOptions,
} from "../outbound/remote-request.ts";

/** Pieces that are read ahead of a reader, each of up to 64 KiB. */
const AHEAD_PIECES = 8;

/** A source that breaks off is asked for the rest at once, as long as answers bring something. */
const MAX_EMPTY_ANSWERS = 3;

/** A remote file that can be read from any place, as long as it stays the one it was. */
export interface Passage {
  readonly url: string;
  readonly ownerId: string;
  readonly sizeBytes: number;
  /** Strong: the same for the same bytes alone (RFC 9110, 8.8.1). */
  readonly etag: string;
  readonly sums: BlockSums;
  /** Where it is sent in chunks; null: each range is asked for by itself. */
  readonly onward: Onward | null;
  readonly signal: AbortSignal;
  /** Keeps what is known of the blocks for the next process, where that is due. */
  save(): Promise<void>;
}

interface Range {
  readonly start: number;
  /** Included. */
  readonly end: number;
}

/**
 * The bytes straight from their source, each block compared with what it was when it was first read. Fails
 * with `invalid` where the source has changed, before the first changed block is handed out, and with
 * `MediaUnavailable` where it does not answer.
 */
export function openPassage(
  options: RemoteOptions,
  passage: Passage,
  range: { start?: number; end?: number },
): Readable {
  const start = range.start ?? 0;
  const end = Math.min(range.end ?? passage.sizeBytes - 1, passage.sizeBytes - 1);
  // Piece by piece: a stream of bytes would copy them together for its reader.
  return Readable.from(readRange(options, passage, { start, end }), {
    objectMode: true,
    highWaterMark: AHEAD_PIECES,
  });
}

/** What was read is noted also when the reader goes away or the source fails: it may have been sent. */
async function* readRange(options: RemoteOptions, passage: Passage, range: Range): AsyncGenerator<Buffer> {
  let isWhole = false;
  const reader = passage.onward?.take(range.start) ?? openReader(options, passage, range);
  try {
    for (let at = range.start; at <= range.end;) {
      const block = await reader.blockWith(at);
      if (!passage.sums.matches(block.at / BLOCK_BYTES, block.pieces)) throw changed();
      await passage.save();
      yield* within({ start: at, end: range.end }, block.at, block.pieces);
      at = block.at + BLOCK_BYTES;
    }
    isWhole = true;
    if (passage.onward === null) await reader.finish();
    else await passage.onward.keep(range.end + 1, reader, passage.signal);
  } catch (error) {
    throw explainRemote(error, passage.signal);
  } finally {
    if (!isWhole) await reader.close();
    await passage.save();
  }
}

function openReader(options: RemoteOptions, passage: Passage, { start, end }: Range): BlockReader {
  const until = passage.onward?.leadsTo(start) === true ? passage.sizeBytes - 1 : end;
  return new BlockReader(blocksOf(options, passage, { start, end: until }), until);
}

function* within(range: Range, from: number, pieces: readonly Buffer[]): Generator<Buffer> {
  let at = from;
  for (const piece of pieces) {
    const wanted = piece.subarray(Math.max(range.start - at, 0), Math.max(range.end + 1 - at, 0));
    if (wanted.length > 0) yield wanted;
    at += piece.length;
  }
}

/** Whole blocks that cover the range; goes on where an answer breaks off. */
async function* blocksOf(options: RemoteOptions, passage: Passage, range: Range): AsyncGenerator<Block> {
  let at = Math.floor(range.start / BLOCK_BYTES) * BLOCK_BYTES;
  const end = Math.min(Math.ceil((range.end + 1) / BLOCK_BYTES) * BLOCK_BYTES, passage.sizeBytes) - 1;
  for (let emptyAnswers = 0; at <= end;) {
    const before = at;
    try {
      for await (const block of answerOf(options, passage, { start: at, end })) {
        yield block;
        at = block.at + BLOCK_BYTES;
      }
    } catch (error) {
      emptyAnswers = at > before ? 0 : emptyAnswers + 1;
      if (error instanceof AppError || passage.signal.aborted || emptyAnswers === MAX_EMPTY_ANSWERS)
        throw error;
    }
  }
}

/** The blocks of one answer. Throws where it ends before the range does. */
async function* answerOf(options: RemoteOptions, passage: Passage, range: Range): AsyncGenerator<Block> {
  const answer = await requestRange(options, passage, range);
  const lengthAt = (at: number): number => Math.min(BLOCK_BYTES, range.end + 1 - at);
  let at = range.start;
  let pieces: Buffer[] = [];
  let missing = lengthAt(at);
  for await (const chunk of readRemote(options, answer)) {
    for (let taken = 0; taken < chunk.length;) {
      if (missing === 0) throw new Error("The source sends more than it was asked for.");
      const piece = chunk.subarray(taken, taken + missing);
      pieces.push(piece);
      taken += piece.length;
      missing -= piece.length;
      if (missing > 0) continue;
      yield { at, pieces };
      at += BLOCK_BYTES;
      pieces = [];
      missing = Math.max(lengthAt(at), 0);
    }
  }
  if (at <= range.end) throw new Error("The source sends less than it was asked for.");
}

async function requestRange(
  options: RemoteOptions,
  passage: Passage,
  { start, end }: Range,
): Promise<OutboundResponse> {
  const { url, ownerId, signal, etag, sizeBytes } = passage;
  const answer = await requestRemote(options, {
    url,
    ownerId,
    signal,
    headers: { range: `bytes=${start}-${end}`, "if-match": etag },
  });
  const place = readContentRange(answer.headers["content-range"]);
  // Of a part that is less than asked for, the rest is asked for after it.
  const isAsked =
    place !== null && place.start === start && place.end <= end && place.sizeBytes === sizeBytes;
  if (answer.status === 206 && answer.headers["etag"] === etag && isAsked) return answer;
  answer.body.destroy();
  const isOther = [200, 206, 412, 416].includes(answer.status);
  const problem = isOther ? null : problemOfAnswer(answer, options.maxBytes);
  throw problem === null ? changed() : asError(problem);
}

function changed(): AppError {
  return new AppError(
    "invalid",
    "mediaUrl: the media changed at its source after it was checked, so it is not sent. Give an address whose content stays the same, or upload the file.",
  );
}
