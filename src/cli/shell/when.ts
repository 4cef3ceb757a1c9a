import { DateTime } from "luxon";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const SPAN = /^in (\d{1,4}) ?(m|min|minute|h|hour|d|day|w|week)s?$/;
const UNITS: Readonly<Record<string, "minutes" | "hours" | "days" | "weeks">> = {
  m: "minutes",
  h: "hours",
  d: "days",
  w: "weeks",
};

const CLOCK = /^(\d{1,2})(?:[:.](\d{2}))? ?(am|pm)?$/;
const TIME_ALONE = /^(?:at )?(\d{1,2}(?:[:.]\d{2}(?: ?[ap]m)?| ?[ap]m))$/;
const DAY_AND_TIME = /^([a-z]+|\d{4}-\d{2}-\d{2}),? (?:at )?(\d[\d:.]*(?: ?[ap]m)?)$/;
const ISO = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}/;
const WITHOUT_OFFSET = /^\d{4}-\d{2}-\d{2}[Tt ][\d:.,]+$/;

/** What a person's words count from. */
interface Now {
  readonly now: number;
  readonly timezone: string;
}

/**
 * Reads when a post shall go out: ISO 8601, or what people say ("tomorrow 9:00", "friday 18:30", "in 2 hours",
 * "2026-12-01 9:00"). Returns it as `scheduledAt` takes it, a time of the clock with its zone; null: now.
 * Throws `invalid` with examples.
 */
export function readWhen(text: string, { now, timezone }: Now): string | null {
  const words = text.trim().replaceAll(/\s+/g, " ").toLowerCase();
  if (words === "now") return null;
  const here = DateTime.fromMillis(now, { zone: timezone });
  const when = readSpan(words, here) ?? readTime(words, here) ?? readDayAndTime(words, here);
  if (when !== null) return when;
  // Whatever looks like ISO 8601 is judged as everywhere else.
  if (ISO.test(words)) return WITHOUT_OFFSET.test(words) ? `${text.trim()}[${timezone}]` : text.trim();
  throw new AppError(
    "invalid",
    `--at: ${quote(text)} is not a time. Give for example "tomorrow 9:00", "friday 18:30", "in 2 hours", "2026-12-01 9:00" or 2026-12-01T09:00:00+01:00.`,
  );
}

/** Days and weeks keep the time of day. */
function readSpan(words: string, here: DateTime): string | null {
  const [, count, unit = ""] = SPAN.exec(words) ?? [];
  const name = UNITS[unit.charAt(0)];
  if (count === undefined || name === undefined) return null;
  return here
    .plus({ [name]: Number(count) })
    .toUTC()
    .toISO();
}

/** The next time that the clock shows it. */
function readTime(words: string, here: DateTime): string | null {
  const [, time] = TIME_ALONE.exec(words) ?? [];
  const clock = time === undefined ? null : readClock(time);
  if (clock === null) return null;
  return onClock(here.plus({ days: here.set(clock) > here ? 0 : 1 }), clock);
}

function readDayAndTime(words: string, here: DateTime): string | null {
  const [, day = "", time = ""] = DAY_AND_TIME.exec(words) ?? [];
  const clock = readClock(time);
  if (clock === null) return null;
  if (day === "today") return onClock(here, clock);
  if (day === "tomorrow") return onClock(here.plus({ days: 1 }), clock);
  if (/^\d/.test(day)) return onClock(DateTime.fromISO(day, { zone: here.zone }), clock);
  const weekday = WEEKDAYS.findIndex((name) => name === day || name.slice(0, 3) === day) + 1;
  if (weekday === 0) return null;
  const days = (weekday - here.weekday + 7) % 7;
  return onClock(here.plus({ days: days === 0 && here.set(clock) <= here ? 7 : days }), clock);
}

interface Clock {
  readonly hour: number;
  readonly minute: number;
}

function readClock(text: string): Clock | null {
  const [, hours, minutes = "0", half] = CLOCK.exec(text) ?? [];
  if (hours === undefined || Number(minutes) > 59) return null;
  if (half === undefined) return Number(hours) < 24 ? { hour: Number(hours), minute: Number(minutes) } : null;
  if (Number(hours) < 1 || Number(hours) > 12) return null;
  return { hour: (Number(hours) % 12) + (half === "pm" ? 12 : 0), minute: Number(minutes) };
}

/** As a text: whether the clocks show it once that day is told where it is read. Null: there is no such day. */
function onClock(day: DateTime, { hour, minute }: Clock): string | null {
  if (!day.isValid) return null;
  const [hours, minutes] = [hour, minute].map((part) => String(part).padStart(2, "0"));
  return `${day.toISODate()}T${hours}:${minutes}[${day.zoneName}]`;
}
