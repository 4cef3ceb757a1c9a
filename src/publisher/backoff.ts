import { MINUTE, SECOND } from "../domain/time.ts";

const BASE_MS = 2 * SECOND;
const CAP_MS = 10 * MINUTE;

/** Tries of a post before it is given up; a doubtful outcome that is asked about does not count. */
export const MAX_TRIES = 8;

/**
 * Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), never below half a
 * second.
 */
export function backoffMs(tries: number, random: number): number {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** tries);
  return Math.max(500, Math.round(random * ceiling));
}
