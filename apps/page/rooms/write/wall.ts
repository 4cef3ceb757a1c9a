import type { Zone } from "../../../shared/zone.ts";

/* Times of an input of type datetime-local: `2026-11-27T09:00`, in a time zone. */

const WALL = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/;

export function toWall(ms: number, zone: Zone): string {
  const { day, minutes } = zone.read(ms);
  return `${day}T${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** The moment. Null where the text is no whole time yet. */
export function fromWall(text: string, zone: Zone): number | null {
  const [, day, hours, minutes] = WALL.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return null;
  return zone.toMs({ day, minutes: Number(hours) * 60 + Number(minutes) });
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
