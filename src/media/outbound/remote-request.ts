import { AppError } from "../../domain/errors.ts";
import { type MediaProblem, tooLarge } from "../../domain/files/media-limits.ts";
import { HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import { MediaUnavailable } from "../../ports/media.ts";
import { type Outbound, OutboundFailure, type OutboundResponse } from "../../ports/outbound.ts";
import { toBuffer } from "../../domain/to-buffer.ts";

const FETCH_TIMEOUT_MS = 2 * HOUR;
const IDLE_MS = 30 * SECOND;
const HEADERS_MS = 30 * SECOND;
const MAX_REDIRECTS = 3;

/** A source that trickles is left: less than this in a minute is slower than 1 kB/s. */
const PACE = { windowMs: MINUTE, bytes: 60 * 1024 };

export interface RemoteOptions {
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly maxBytes: number;
}

interface RemoteRequest {
  readonly url: string;
  readonly signal: AbortSignal;
}

export function requestRemote(
  { outbound }: RemoteOptions,
  request: RemoteRequest,
): Promise<OutboundResponse> {
  const limits = { timeoutMs: FETCH_TIMEOUT_MS, idleMs: IDLE_MS, headersMs: HEADERS_MS };
  return outbound.request({ ...request, method: "GET", ...limits, maxRedirects: MAX_REDIRECTS });
}

/** The body, unless it is too large or too slow. Only the waiting for it counts, not what the reader does. */
export async function* readRemote(
  { clock, maxBytes }: RemoteOptions,
  answer: OutboundResponse,
): AsyncGenerator<Buffer> {
  const chunks = answer.body[Symbol.asyncIterator]();
  let sizeBytes = 0;
  let pace = { waitedMs: 0, bytes: 0 };
  try {
    for (;;) {
      const askedAt = clock.monotonic();
      const next: IteratorResult<unknown> = await chunks.next();
      if (next.done === true) return;
      const bytes = toBuffer(next.value);
      sizeBytes += bytes.length;
      if (sizeBytes > maxBytes) throw asError(tooLarge(maxBytes));
      pace = { waitedMs: pace.waitedMs + clock.monotonic() - askedAt, bytes: pace.bytes + bytes.length };
      if (pace.waitedMs >= PACE.windowMs) {
        if (pace.bytes < PACE.bytes)
          throw new MediaUnavailable("The media comes too slowly (below 1 kB a second).");
        pace = { waitedMs: 0, bytes: 0 };
      }
      yield bytes;
    }
  } finally {
    answer.body.destroy();
  }
}

export function asError(problem: MediaProblem): Error {
  const sentence = `The media cannot be fetched: ${problem.reason}.`;
  return problem.isLasting ? new AppError("invalid", sentence) : new MediaUnavailable(sentence);
}

/** Whatever breaks while bytes are under way, the network or our disk, may work another time. */
export function explainRemote(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AppError && error.kind === "unavailable")
    return new MediaUnavailable(error.message, { cause: error });
  if (error instanceof AppError || error instanceof MediaUnavailable) return error;
  const what = error instanceof OutboundFailure ? "did not answer" : "broke off before it was whole";
  return new MediaUnavailable(`The source of the media ${what}.`, { cause: error });
}
