import { DateTime, IANAZone } from "luxon";
import { plural } from "./text/plain-text.ts";
import { setMaxListeners } from "node:events";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** In sentences that ask for another: models take an example as it is, so it must lie ahead for years. */
export const EXAMPLE_DAY = "2031-01-30";
export const EXAMPLE_TIME = `${EXAMPLE_DAY}T09:00`;

/** Said of a time that is there and holds nothing. That it may be left out would make a slip publish at once. */
export const EMPTY_TIME = `is empty. Give a time such as ${EXAMPLE_TIME}`;

/** The same where a day is meant. */
export const EMPTY_DAY = `is empty. Give a date such as ${EXAMPLE_DAY}`;

/** UTC with milliseconds and `Z`, as all answers show it. Throws RangeError for what no calendar holds. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

export function toIsoOrNull(ms: number | null): string | null {
  return ms === null ? null : toIso(ms);
}

/** In that zone, to the minute, with its offset: `2026-11-22T09:00+01:00`. Throws RangeError. */
export function toZoned(ms: number, timezone: string): string {
  const moment = DateTime.fromMillis(ms, { zone: timezone });
  if (!moment.isValid) throw new RangeError(`No calendar holds ${ms} in ${timezone}.`);
  return moment.toISO({ precision: "minute" });
}

/** The machine's own zone (`TZ`, or the system's); UTC where it has none that is known. */
export function machineTimezone(): string {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isTimezone(zone) ? zone : "UTC";
}

export function isTimezone(name: string): boolean {
  return name !== "" && IANAZone.isValidZone(name);
}

/** `1 hour`, `90 minutes`: how late a post may be, for sentences. */
export function formatDuration(ms: number): string {
  const minutes = Math.round(ms / MINUTE);
  return minutes > 0 && minutes % 60 === 0 ? plural(minutes / 60, "hour") : plural(minutes, "minute");
}

/** As a person reads it, to the minute: `Tuesday 1 December 2026, 10:00 (Europe/Berlin)`. */
export function formatTime(ms: number, timezone: string): string {
  const clock = DateTime.fromMillis(ms, { zone: timezone, locale: "en" }).toFormat("cccc d MMMM yyyy, HH:mm");
  return `${clock} (${timezone})`;
}

/**
 * When something is tried next. What is told is never later than what happens: it is cut to the minute as every time
 * is, and to the second where that is less than two minutes ahead.
 */
export function describeTry(ms: number, { now, timezone }: { now: number; timezone: string }): string {
  if (ms - now >= 2 * MINUTE) return formatTime(ms, timezone);
  const clock = DateTime.fromMillis(ms, { zone: timezone, locale: "en" });
  return `${clock.toFormat("cccc d MMMM yyyy, HH:mm:ss")} (${timezone})`;
}

/**
 * Aborts with a `TimeoutError` after so many milliseconds, or with one of the others. `AbortSignal.timeout` within
 * `AbortSignal.any` does not do: when memory is collected, Node may let go of a source, and the abort never comes
 * (https://github.com/nodejs/node/issues/57736, https://github.com/nodejs/node/issues/65995). The timer holds this
 * one until its time.
 */
export function deadline(ms: number, ...others: readonly AbortSignal[]): AbortSignal {
  const over = new AbortController();
  const end = (): void => over.abort(new DOMException("The time for it was over.", "TimeoutError"));
  setTimeout(end, ms).unref();
  for (const other of others) {
    const follow = (): void => over.abort(other.reason);
    // One signal may end many calls at a time. Node takes more than ten of them for a leak.
    setMaxListeners(0, other);
    if (other.aborted) follow();
    else other.addEventListener("abort", follow, { once: true, signal: over.signal });
  }
  return over.signal;
}
