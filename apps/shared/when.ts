import { computed, signal } from "@preact/signals";
import { now } from "./clock.ts";
import { createFormats, usableLocale } from "./formats.ts";
import { createZone } from "./zone.ts";

/* How times are written, in all rooms of the page and in the views within an agent. */

/** The IANA zone that times are shown in. */
export const timezone = signal("UTC");
/** Whose habits they follow, in English words. Null: the browser's. */
export const locale = signal<string | null>(null);

/** Days and minutes of the zone that times are shown in. */
export const zone = computed(() => createZone(timezone.value));
export const formats = computed(() =>
  createFormats(usableLocale(locale.value ?? navigator.language), timezone.value),
);

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
