import { DAY, SECOND } from "../domain/time.ts";

/**
 * A platform that asks for more is asked again after a day. A post that would be too late by then fails at once,
 * and holds up nothing (`publisher/verdict.ts`).
 */
const MAX_WAIT_MS = DAY;

/** "At once", or a moment that is over, would be a try every second. */
export const MIN_WAIT_MS = 10 * SECOND;

/** How long a platform is left alone that names this span, be it in a header or in its words. */
export function boundedWait(waitMs: number): number {
  const asked = Number.isNaN(waitMs) ? MIN_WAIT_MS : waitMs;
  return Math.min(Math.max(Math.ceil(asked), MIN_WAIT_MS), MAX_WAIT_MS);
}

/** A reset beyond this is a moment, not a span (GitHub, Bluesky and X send seconds since 1970). */
const FIRST_MOMENT_SECONDS = 1_000_000_000;

/** RFC 9110 first; Discord's is exact where others are rounded; the rest tell when a limit starts anew. */
const HEADERS = [
  "retry-after",
  "x-ratelimit-reset-after",
  "ratelimit-reset",
  "x-ratelimit-reset",
  "x-rate-limit-reset",
];

/**
 * Milliseconds to wait by `Retry-After` or the reset of a rate limit: seconds, seconds since 1970, an HTTP
 * date or an ISO time. Null where none of them says.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const [waitMs = null] = HEADERS.flatMap((name) => waitOf(headers[name] ?? "", now) ?? []);
  return waitMs;
}

function waitOf(text: string, now: number): number | null {
  const isNumber = /^\d+(\.\d+)?$/.test(text.trim());
  const isSpan = isNumber && Number(text) < FIRST_MOMENT_SECONDS;
  const waitMs = (isNumber ? Number(text) * SECOND : Date.parse(text)) - (isSpan ? 0 : now);
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(Math.ceil(waitMs), 0), MAX_WAIT_MS);
}
