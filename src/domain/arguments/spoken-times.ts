import { DateTime, Info } from "luxon";
import { AppError } from "../errors.ts";
import { WEEKDAYS } from "../drafts/series-days.ts";
import { toIso } from "../time.ts";
import { quote } from "../text/plain-text.ts";
import { findWeekday, readClock as readClockTime } from "../wall-clock.ts";

const SPAN = /^(?:in |\+ ?)(\d{1,4}|an?) ?(m|min|minute|h|hr|hour|d|day|w|week)s?$/;
const UNITS: Readonly<Record<string, "minutes" | "hours" | "days" | "weeks">> = {
  m: "minutes",
  h: "hours",
  d: "days",
  w: "weeks",
};

/** A time that stands by itself: only 9 may be anything. */
export const TIME_ALONE = /^(?:at )?(\d{1,2}(?:[:.]\d{2}(?: ?[ap]m)?| ?[ap]m)|noon)$/;
/** Before a date, which must fall on it. */
const WEEKDAY = String.raw`(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*`;
/** `january 5th, 2027` and `5 jan`, also `tuesday, january 5`. */
const MONTH_DAY = String.raw`(?:on )?(?:${WEEKDAY}\.?,? )?[a-z]+\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?`;
const DAY_MONTH = String.raw`(?:on )?(?:${WEEKDAY}\.?,? )?(?:the )?\d{1,2}(?:st|nd|rd|th|\.)?(?: of)? [a-z]+\.?(?:,? \d{4})?`;
const DAY = String.raw`(?:(?:on |this |next )?[a-z]+|\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|${MONTH_DAY}|${DAY_MONTH})`;
const TIME = String.raw`(?:\d[\d:.]*(?: ?[ap]m)?|noon)`;
export const DAY_ALONE = new RegExp(`^(?<day>${DAY})$`);
const DAY_AND_TIME = new RegExp(`^(?<day>${DAY}),? (?:at )?(?<time>${TIME})$`);
const TIME_AND_DAY = new RegExp(`^(?:at )?(?<time>${TIME}),? (?<day>${DAY})$`);
const WITH_SLASHES = /\d\/\d{1,2}(?:\/|\b)/;
const IN_MONTH = new RegExp(
  String.raw`^(?:on )?(?:(?<weekday>${WEEKDAY})\.?,? )?(?:the )?(?:(?<month>[a-z]{3,})\.? )?(?<day>\d{1,2})(?:st|nd|rd|th|\.)?(?:(?: of)? (?<after>[a-z]{3,})\.?)?(?:,? (?<year>\d{4}))?$`,
);
const GERMAN = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
export const ISO = /^\d{4}-?\d{2}-?\d{2}[Tt ]\d{2}/;

interface Clock {
  readonly hour: number;
  readonly minute: number;
}

const NOON: Clock = { hour: 12, minute: 0 };
const MORNING: Clock = { hour: 9, minute: 0 };
const TONIGHT: Clock = { hour: 20, minute: 0 };
const EVENING_HOUR = 17;

const MONTHS = Info.months("long", { locale: "en" }).map((name) => name.toLowerCase());

const EXAMPLES =
  'Give for example "tomorrow 9:00", "friday 18:30", "next monday noon", "in 2 hours", "jan 5 9:00", "25.12.2031 9:00" or 2031-01-30T09:00.';

export const WHEN_HELP =
  'When: "tomorrow 9:00", "friday 18:30", "next monday" (9:00), tonight, "in 2 hours", "jan 5 9:00", "25.12.2031 9:00", 2031-01-30T09:00:00Z';

export interface Now {
  readonly now: number;
  readonly timezone: string;
  /** Where it was given, for the sentences. Default: `--at`. */
  readonly field?: string;
}

/**
 * Reads when a post shall go out: ISO 8601, or what people say ("tomorrow 9:00", "next friday", "+2h",
 * "25.12.2031 9:00"); only a day means its 9:00. Returns it as `scheduledAt` takes it, a time of the clock with
 * its zone; null: now. A grammar of our own: libraries guess at what they do not know, and a post that goes out
 * at a guess cannot be taken back everywhere. Throws `invalid` with examples.
 */
export function readWhen(text: string, { now, timezone, field = "--at" }: Now): string | null {
  const words = text.trim().replaceAll(/\s+/g, " ").toLowerCase();
  if (words === "now") return null;
  const here = DateTime.fromMillis(now, { zone: timezone });
  const when = readSpan(words, here) ?? readTime(words, here) ?? readDayAndTime(words, here);
  if (when === NO_SUCH_DAY) throw noSuchDay(text, field);
  if (when !== null) return when;
  // Whatever looks like ISO 8601 is judged as everywhere else.
  if (ISO.test(words)) return text.trim();
  if (WITH_SLASHES.test(words))
    throw new AppError(
      "invalid",
      `${field}: ${quote(text)} has a date with slashes, which countries read differently. Write 2031-12-25 or 25.12.2031.`,
    );
  throw new AppError("invalid", `${field}: ${quote(text)} is not a time. ${EXAMPLES}`);
}

const LAST_MINUTE: Clock = { hour: 23, minute: 59 };

/** Reads a day ("monday", tomorrow, "25.12.2031") as a date; of today's weekday it is today. Throws `invalid`. */
export function readDate(text: string, { now, timezone, field = "--at" }: Now): string {
  const words = text.trim().replaceAll(/\s+/g, " ").toLowerCase();
  const here = DateTime.fromMillis(now, { zone: timezone });
  const day = DAY_ALONE.test(words) ? readDay(words, LAST_MINUTE, here) : null;
  if (day?.isValid === false) throw noSuchDay(text, field);
  if (day !== null) return day.toFormat("yyyy-MM-dd");
  throw new AppError(
    "invalid",
    `${field}: ${quote(text)} is not a day. Give for example monday, tomorrow or 2031-01-30.`,
  );
}

/**
 * Reads from or until when: a day as a date, which stands for all of it, and everything else as `readWhen` does. Throws
 * `invalid` with examples.
 */
export function readBound(text: string, at: Now): string {
  const words = text.trim().replaceAll(/\s+/g, " ").toLowerCase();
  const here = DateTime.fromMillis(at.now, { zone: at.timezone });
  const isDay = DAY_ALONE.test(words) && readDay(words, LAST_MINUTE, here) !== null;
  return isDay ? readDate(text, at) : (readWhen(text, at) ?? toIso(at.now));
}

function noSuchDay(text: string, field: string): AppError {
  return new AppError(
    "invalid",
    `${field}: ${quote(text)} names a day that no calendar has. Give another one.`,
  );
}

/** Days and weeks keep the time of day. */
function readSpan(words: string, here: DateTime): string | null {
  const [, count = "", unit = ""] = SPAN.exec(words) ?? [];
  const name = UNITS[unit.charAt(0)];
  if (name === undefined) return null;
  return here
    .plus({ [name]: count.startsWith("a") ? 1 : Number(count) })
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

/** In place of a time, for a day such as 31.2.2027. */
const NO_SUCH_DAY = "no such day";

/** "jan 5" is no January at five: one way of reading after the other. */
function readDayAndTime(words: string, here: DateTime): string | null {
  for (const form of [DAY_AND_TIME, TIME_AND_DAY, DAY_ALONE]) {
    const { day = "", time } = form.exec(words)?.groups ?? {};
    const when = day === "tonight" ? onTonight(time, here) : onDay(day, time, here);
    if (when !== null) return when;
  }
  return null;
}

function onDay(day: string, time: string | undefined, here: DateTime): string | null {
  const clock = time === undefined ? MORNING : readClock(time);
  const date = clock === null ? null : readDay(day, clock, here);
  if (clock === null || date === null) return null;
  return date.isValid ? onClock(date, clock) : NO_SUCH_DAY;
}

/** At eight, or at another time of that evening: nine is 21:00 then. */
function onTonight(time: string | undefined, here: DateTime): string | null {
  const clock = time === undefined ? TONIGHT : readClock(time);
  if (clock === null) return null;
  const late = { ...clock, hour: clock.hour < NOON.hour ? clock.hour + NOON.hour : clock.hour };
  return late.hour < EVENING_HOUR ? null : onClock(here, late);
}

function readDay(words: string, clock: Clock, here: DateTime): DateTime | null {
  if (words === "today") return here;
  if (words === "tomorrow") return here.plus({ days: 1 });
  if (words === "yesterday") return here.minus({ days: 1 });
  if (/^\d{4}-/.test(words)) return DateTime.fromISO(words, { zone: here.zone });
  const [, day, month, year] = (GERMAN.exec(words) ?? []).map(Number);
  if (day !== undefined) return DateTime.fromObject({ year, month, day }, { zone: here.zone });
  return readInMonth(words, clock, here) ?? readWeekday(words, clock, here);
}

/** Without a year it is the next one to come. Null also where it does not fall on the weekday that is named. */
function readInMonth(words: string, clock: Clock, here: DateTime): DateTime | null {
  const { weekday, ...given } = IN_MONTH.exec(words)?.groups ?? {};
  const date = dateInMonth(given, clock, here);
  if (weekday === undefined || date?.isValid !== true) return date;
  return WEEKDAYS[date.weekday - 1] === findWeekday(weekday) ? date : null;
}

function dateInMonth(
  { month: before, after, day, year }: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  here: DateTime,
): DateTime | null {
  const name = before ?? after;
  const month = MONTHS.findIndex((one) => name !== undefined && one.startsWith(name)) + 1;
  if (month === 0 || (before !== undefined && after !== undefined)) return null;
  const on = (wanted: number): DateTime =>
    DateTime.fromObject({ year: wanted, month, day: Number(day) }, { zone: here.zone });
  if (year !== undefined) return on(Number(year));
  const date = on(here.year);
  return date.isValid && date.set(clock) <= here ? on(here.year + 1) : date;
}

/** The next one to come; of "next friday" that of next week. */
function readWeekday(words: string, clock: Clock, here: DateTime): DateTime | null {
  const name = words.replace(/^(?:on|this|next) /, "");
  const weekday = WEEKDAYS.findIndex((day) => day === findWeekday(name)) + 1;
  if (weekday === 0) return null;
  if (words.startsWith("next ")) return here.startOf("week").plus({ weeks: 1, days: weekday - 1 });
  const days = (weekday - here.weekday + WEEKDAYS.length) % WEEKDAYS.length;
  return here.plus({ days: days === 0 && here.set(clock) <= here ? WEEKDAYS.length : days });
}

/** Of a day only its hour may be told: "tomorrow 9". */
function readClock(text: string): Clock | null {
  if (text === "noon") return NOON;
  const read = readClockTime(/^\d+$/.test(text) ? `${text}:00` : text.replace(".", ":"));
  const [hour, minute] = read?.split(":").map(Number) ?? [];
  return hour === undefined || minute === undefined ? null : { hour, minute };
}

/** As a text: whether the clocks show it once that day is told where it is read. Null: there is no such day. */
function onClock(day: DateTime, { hour, minute }: Clock): string | null {
  if (!day.isValid || day.year < 1970 || day.year >= 2200) return null;
  const [hours, minutes] = [hour, minute].map((part) => String(part).padStart(2, "0"));
  return `${day.toISODate()}T${hours}:${minutes}[${day.zoneName}]`;
}
