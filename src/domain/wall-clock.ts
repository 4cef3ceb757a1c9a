import { DateTime } from "luxon";
import { DAY, MINUTE } from "./time.ts";

/** What a clock on the wall of a zone shows: `2026-11-21` and `09:30`. */
export interface WallTime {
  readonly date: string;
  readonly time: string;
}

/**
 * When a clock in that zone shows this. A time that a clock change skips is the first minute after the change.
 * One that comes twice is the first. Throws RangeError for what no calendar holds.
 */
export function atWallTime({ date, time }: WallTime, timezone: string): number {
  const read = DateTime.fromISO(`${date}T${time}`, { zone: timezone });
  if (!read.isValid) throw new RangeError(`No calendar holds ${date} ${time} in ${timezone}.`);
  const isSkipped = read.toFormat("yyyy-MM-dd HH:mm") !== `${date} ${time}`;
  if (isSkipped) return changeBefore(read);
  return Math.min(...read.getPossibleOffsets().map((moment) => moment.toMillis()));
}

export function readWallClock(ms: number, timezone: string): WallTime {
  const moment = DateTime.fromMillis(ms, { zone: timezone });
  return { date: moment.toFormat("yyyy-MM-dd"), time: moment.toFormat("HH:mm") };
}

/** No clock was ever put forward by more: Samoa left out a day. */
const LONGEST_GAP = 2 * DAY;

/** When the offset of this moment began. */
function changeBefore(moment: DateTime): number {
  const isAfter = (ms: number): boolean =>
    DateTime.fromMillis(ms, { zone: moment.zone }).offset === moment.offset;
  let after = moment.toMillis();
  let before = after - LONGEST_GAP;
  while (after - before > MINUTE) {
    const middle = Math.floor((before + after) / 2 / MINUTE) * MINUTE;
    if (isAfter(middle)) after = middle;
    else before = middle;
  }
  return after;
}

const CLOCK = /^(\d{1,2})(?::(\d{2}))?\s?(?:([ap])\.?m\.?)?$/i;

/** A time of day as people write it, such as 9:00, 9am or 12:30 PM, as `09:00`. Null for others, such as 9. */
export function readClock(text: string): string | null {
  const [, hours = "", minutes, half] = CLOCK.exec(text.trim()) ?? [];
  if (hours === "" || (minutes === undefined && half === undefined) || Number(minutes ?? 0) > 59) return null;
  if (half === undefined ? Number(hours) > 23 : Number(hours) < 1 || Number(hours) > 12) return null;
  const isAfternoon = half?.toLowerCase() === "p";
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (isAfternoon ? 12 : 0);
  return `${String(hour).padStart(2, "0")}:${minutes ?? "00"}`;
}

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

/** The day that a name means, from its third letter on: `mon` of `Monday` and `Mon.`. Null: none. */
export function findWeekday(text: string): string | null {
  const word = text.trim().toLowerCase().replace(/\.$/, "");
  const day = word.length < 3 ? undefined : WEEKDAYS.find((name) => name.startsWith(word));
  return day?.slice(0, 3) ?? null;
}
