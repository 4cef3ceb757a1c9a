import { DateTime } from "luxon";
import { AppError } from "./errors.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** No plan reaches this far: a later moment is a mistake, such as milliseconds taken for seconds. */
const LATEST = Date.UTC(2200, 0, 1);

const HAS_OFFSET = /(?:[zZ]|[+-]\d{2}(?::?\d{2})?)$/;
const PLAIN_DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/;

/** UTC with milliseconds and `Z`, as every answer shows a moment. Throws RangeError for what no calendar holds. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

export function toIsoOrNull(ms: number | null): string | null {
  return ms === null ? null : toIso(ms);
}

interface ParsedTime {
  readonly ms: number;
  /** Set when the text had no offset and the configured zone was taken. */
  readonly warning: string | null;
}

/**
 * Reads an ISO 8601 date-time. One without an offset is read in `timezone` and comes with a warning.
 * Throws `invalid` that names the field.
 */
export function parseMoment(field: string, text: string, timezone: string): ParsedTime {
  const trimmed = text.trim();
  const normalized = trimmed.replace(/^(\d{4}-\d{2}-\d{2})[t ]/, "$1T").replace(/z$/, "Z");
  const parsed = DATE_TIME.test(trimmed) ? DateTime.fromISO(normalized, { zone: timezone }) : null;
  if (parsed === null || !parsed.isValid) {
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} is not a date and time. Give ISO 8601 with an offset, for example 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00.`,
    );
  }
  const ms = parsed.toMillis();
  if (ms < 0 || ms > LATEST) {
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} is out of range. Give a time between 1970 and 2200.`,
    );
  }
  const hasOffset = HAS_OFFSET.test(trimmed.slice(11));
  const warning = hasOffset
    ? null
    : `${field} had no offset; it was read in the time zone ${timezone}, which makes it ${toIso(ms)}. Add Z or an offset to be sure.`;
  return { ms, warning };
}

/** Reads `from`/`to`: a date-time, or a plain date (start of that day; its last millisecond where `isEnd`). */
export function parseBound(field: string, text: string, timezone: string, isEnd: boolean): number {
  if (!PLAIN_DATE.test(text.trim())) return parseMoment(field, text, timezone).ms;
  const day = DateTime.fromISO(text.trim(), { zone: timezone });
  if (!day.isValid)
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} is not a day of the calendar. Give a date such as 2026-11-21.`,
    );
  const ms = (isEnd ? day.endOf("day") : day.startOf("day")).toMillis();
  if (ms < 0 || ms > LATEST) {
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} is out of range. Give a date between 1970 and 2200.`,
    );
  }
  return ms;
}

/** A caller's own words, cut short and quoted, for a sentence. */
export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 57)}…` : text;
  return JSON.stringify(short);
}
