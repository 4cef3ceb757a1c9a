import { formats, zone } from "../../data/session.ts";

/** A moment with its day, in the zone that times are shown in. */
export function momentInWords(iso: string): string {
  const ms = Date.parse(iso);
  const { day } = zone.value.read(ms);
  return `${formats.value.range(day, day)}, ${formats.value.time(ms)}`;
}
