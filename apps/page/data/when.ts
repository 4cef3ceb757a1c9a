import { now } from "../../shared/clock.ts";
import { formats, zone } from "./session.ts";

/* How the page writes times. All of its rooms write them so. */

/** "Thursday, 26 November 2026, 09:30" */
export function longTime(ms: number): string {
  return `${formats.value.longDay(zone.value.read(ms).day)}, ${formats.value.time(ms)}`;
}

/** "Thu, 26 Nov, 09:30" */
export function shortTime(ms: number): string {
  return `${formats.value.shortDay(zone.value.read(ms).day)}, ${formats.value.time(ms)}`;
}

/** "today, 09:30", or as `shortTime`. */
export function nearTime(ms: number): string {
  const isToday = zone.value.read(ms).day === zone.value.read(now()).day;
  return isToday ? `today, ${formats.value.time(ms)}` : shortTime(ms);
}

/** On which no zone changes its clocks. */
const SOME_DAY = "2026-01-15";

/** A time of the clock, as `17:30`, as the reader writes times. */
export function clockTime(time: string): string {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  return formats.value.time(zone.value.toMs({ day: SOME_DAY, minutes: hour * 60 + minute }));
}
