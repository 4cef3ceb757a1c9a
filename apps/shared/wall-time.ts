import type { WallTime, Zone } from "./zone.ts";

/* Times of an input of type datetime-local: `2026-11-27T09:00`. */

export function writeWallTime({ day, minutes }: WallTime): string {
  return `${day}T${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** Why a day, or a day with a time, is none to plan for: while its year is typed, a field holds 0002 or 0020. */
export function yearProblem(value: string): string | null {
  const [, year] = /^(\d{4,6})-/.exec(value) ?? [];
  return year === undefined || (year >= "1970" && year < "2200" && year.length === 4)
    ? null
    : "Give a year from 1970 to 2199.";
}

/** Why it is no time to plan for. Null: it is one. */
export function wallProblem(value: string): string | null {
  return yearProblem(value) ?? (readWallTime(value) === null ? "Choose a day and a time." : null);
}

/** Null: it is no date with a time, or none to plan for. */
export function readWallTime(value: string): WallTime | null {
  const [, day = "", hours = "", minutes = ""] = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(value) ?? [];
  if (yearProblem(day) !== null || Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return null;
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
