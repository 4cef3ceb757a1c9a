import { formats, zone } from "./session.ts";

/** "Thursday, 26 November 2026, 09:30" */
export function longTime(ms: number): string {
  return `${formats.value.longDay(zone.value.read(ms).day)}, ${formats.value.time(ms)}`;
}

/** "Thu, 26 Nov, 09:30" */
export function shortTime(ms: number): string {
  return `${formats.value.shortDay(zone.value.read(ms).day)}, ${formats.value.time(ms)}`;
}
