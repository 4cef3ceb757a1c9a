import { DateTime } from "luxon";

/** Of limits that begin anew each day of a time zone. In milliseconds. */
export function untilMidnight(zone: string, now: number): number {
  const day = DateTime.fromMillis(now, { zone }).startOf("day");
  return day.plus({ days: 1 }).toMillis() - now;
}
