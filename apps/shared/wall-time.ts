import type { WallTime } from "./zone.ts";

/** A wall time as a field of type datetime-local writes it. */
export function writeWallTime({ day, minutes }: WallTime): string {
  return `${day}T${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** Null: it is no date with a time. */
export function readWallTime(value: string): WallTime | null {
  const found = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(value);
  if (found === null) return null;
  const [, day = "", hours = "", minutes = ""] = found;
  return { day, minutes: Number(hours) * 60 + Number(minutes) };
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
