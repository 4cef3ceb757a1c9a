import { createFormats, usableLocale } from "../../../shared/formats.ts";
import { formats, zone } from "../../data/session.ts";
import { minutesOf } from "./slots.ts";

/** Day and time in the zone of the page. */
export function momentInWords(iso: string): string {
  const ms = Date.parse(iso);
  return `${formats.value.shortDay(zone.value.read(ms).day)}, ${formats.value.time(ms)}`;
}

const clock = createFormats(usableLocale(navigator.language), "UTC");

/** A time of the clock, as `17:30`, as the reader writes times. */
export function timeInWords(time: string): string {
  return clock.time(minutesOf(time) * 60_000);
}
