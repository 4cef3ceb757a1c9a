import type { WallTime, Zone } from "./zone.ts";

/* Times of an input of type datetime-local: `2026-11-27T09:00`. */

export function writeWallTime({ day, minutes }: WallTime): string {
  return `${day}T${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** Null: it is no date with a time. */
export function readWallTime(value: string): WallTime | null {
  const [, day = "", hours = "", minutes = ""] = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(value) ?? [];
  if (Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return null;
  return { day, minutes: Number(hours) * 60 + Number(minutes) };
}

export function toWall(ms: number, zone: Zone): string {
  return writeWallTime(zone.read(ms));
}

/** The moment. Null where the text is no whole time yet. */
export function fromWall(text: string, zone: Zone): number | null {
  const wall = readWallTime(text);
  return wall === null ? null : zone.toMs(wall);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
