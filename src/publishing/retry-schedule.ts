import { DAY, MINUTE, SECOND } from "../domain/time.ts";
import { MIN_WAIT_MS } from "../platform-io/retry-after.ts";

const BASE_MS = 2 * SECOND;
const CAP_MS = 10 * MINUTE;

/** Tries of a post before it is given up; a doubtful outcome that is asked about does not count. */
const MAX_TRIES = 8;

/** How a failed try is followed by another one. */
export interface Retry {
  readonly afterMs: number;
  /** Tries of the post from then on. */
  readonly tries: number;
  /** True where none follows. */
  readonly isLast: boolean;
  /** What to do once none follows, in a sentence. */
  readonly wayOut: string;
}

/** What failed may work by itself in a moment. */
export function soon(tries: number, random: number): Retry {
  const made = tries + 1;
  const wayOut = `It was tried ${made} times. Send it again.`;
  return { afterMs: backoffMs(tries, random), tries: made, isLast: made >= MAX_TRIES, wayOut };
}

const SETUP_CAP_MS = 15 * MINUTE;
/** After so many tries the longest wait is reached; more are not counted, so that none is the last. */
const SETUP_TRIES = 4;

/** A person must mend something first: after a minute or two, then less often. */
export function onceMended(tries: number, random: number): Retry {
  const ceiling = Math.min(SETUP_CAP_MS, MINUTE * 2 ** (tries + 1));
  const afterMs = Math.round((ceiling * (1 + random)) / 2);
  const counted = Math.max(tries, Math.min(tries + 1, SETUP_TRIES));
  return {
    afterMs,
    tries: counted,
    isLast: false,
    wayOut: "Once that is mended, send it again.",
  };
}

/**
 * Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), never below half a
 * second.
 */
export function backoffMs(tries: number, random: number): number {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** tries);
  return Math.max(500, Math.round(random * ceiling));
}

/** Where a platform asks to slow down and does not say for how long. */
export function rateBackoffMs(tries: number, random: number): number {
  return Math.max(backoffMs(tries + 2, random), MIN_WAIT_MS);
}

interface Held {
  readonly now: number;
  readonly scheduledAt: number;
  readonly giveUpAt: number;
}

/** Backs off from checking posts that are still private after their time. */
const RECHECKS = { share: 1 / 10, leastMs: SECOND, mostMs: 15 * MINUTE, forMs: 7 * DAY } as const;

/** When a post is checked again that is on its platform and private. Null: never. */
export function recheckAt({ checkAgainMs }: { checkAgainMs?: number }, at: Held): number | null {
  const lateMs = at.now - at.scheduledAt;
  if (lateMs < 0) {
    const ahead = checkAgainMs === undefined ? at.scheduledAt : at.now + checkAgainMs;
    return Math.max(Math.min(ahead, at.scheduledAt), at.now + SECOND);
  }
  if (lateMs > RECHECKS.forMs) return null;
  const waitMs = Math.min(Math.max(lateMs * RECHECKS.share, RECHECKS.leastMs), RECHECKS.mostMs);
  return at.now + Math.round(Math.max(waitMs, checkAgainMs ?? 0));
}

/** Said once it should have been public for a while: platforms flip within some minutes. */
export function stillHidden(at: Held): string | null {
  return at.now <= at.giveUpAt
    ? null
    : "It is on the platform, but still private although its time is over. Look at it there.";
}
