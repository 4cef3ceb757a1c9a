import { DateTime } from "luxon";
import { WEEKDAYS } from "../drafts/series-days.ts";
import { toZoned } from "../time.ts";
import { type Meant, parseMoment } from "../parse-time.ts";
import { findWeekday } from "../wall-clock.ts";
import { DAY_ALONE, ISO, TIME_ALONE, type Now, readBound, readDate, readWhen } from "./spoken-times.ts";

/*
 * What a time may mean that is refused, for the sentence that refuses it. A person, or an agent that asks them, sees
 * it before anything goes out: so more is taken here than where a time is read.
 */

/** An hour of a part of the day, where none is told. */
const HOURS_OF: Readonly<Record<string, string>> = {
  morning: "9:00",
  afternoon: "15:00",
  evening: "20:00",
  night: "20:00",
};
const WITH_PART = /^(?<day>.*?)(?:^| )(?:in the )?(?<part>morning|afternoon|evening|night)$/;
const IN_DIGITS =
  /^(?<one>\d{1,2})(?<sign>[/.-])(?<two>\d{1,2})\k<sign>(?<year>\d{4}|\d{2})(?:,? (?:at )?(?<time>\d.*))?$/;
const YEAR_FIRST = /^(?<year>\d{4})([/.])(?<month>\d{1,2})\2(?<day>\d{1,2})(?:,? (?:at )?(?<time>\d.*))?$/;

/** What was written, in words that are read here. */
interface Wording {
  readonly words: string;
  /** Of the day that it means, ours is only one hour. */
  readonly hasPart: boolean;
}

function wordingsOf(text: string): readonly Wording[] {
  const words = text.trim().replaceAll(/\s+/g, " ").toLowerCase();
  const { day = "", part = "" } = WITH_PART.exec(words)?.groups ?? {};
  if (part !== "") {
    const named = day === "" || day === "this" ? "today" : day;
    return [{ words: `${named} ${HOURS_OF[part] ?? ""}`, hasPart: true }];
  }
  return (inDigits(words) ?? [words]).map((one) => ({ words: one, hasPart: false }));
}

/** A day in digits, as each that it can be. Null: it is none, or is read as it is. */
function inDigits(words: string): string[] | null {
  const yearFirst = YEAR_FIRST.exec(words)?.groups;
  const { one = "", two = "", sign, year = "", time = "" } = IN_DIGITS.exec(words)?.groups ?? {};
  if (yearFirst === undefined && sign === undefined) return null;
  const full = year.length === 2 ? `20${year}` : year;
  const days =
    yearFirst === undefined
      ? [isoDay(full, two, one), ...(sign === "." ? [] : [isoDay(full, one, two)])]
      : [isoDay(yearFirst["year"], yearFirst["month"], yearFirst["day"])];
  const found = [...new Set(days.filter((day) => day !== null))].toSorted();
  return found.map((day) => `${day} ${yearFirst?.["time"] ?? time}`.trim());
}

function isoDay(year = "", month = "", day = ""): string | null {
  return DateTime.fromObject({ year: Number(year), month: Number(month), day: Number(day) }).toISODate();
}

/** Each time or day that a text may mean, and the same of next week where today is called by its weekday. */
function meantBy(
  text: string,
  { now, timezone }: Now,
  read: (words: string) => string | null,
): { readonly times: readonly string[]; readonly hasPart: boolean } {
  if (ISO.test(text.trim())) return { times: [], hasPart: false };
  const today = DateTime.fromMillis(now, { zone: timezone });
  const wordings = wordingsOf(text);
  let isLater = false;
  const times = wordings.flatMap(({ words }) => {
    const time = orNull(() => read(words));
    if (time === null) return [];
    const isToday = time.startsWith(today.toISODate() ?? "");
    isLater ||= !isToday && namesToday(words, today);
    return isToday && namesWeekday(words) ? [time, inAWeek(time, timezone)] : [time];
  });
  return { times, hasPart: isLater || wordings.length > 1 || wordings.some(({ hasPart }) => hasPart) };
}

/** A time alone, or today's weekday: where that is over, a later day is a guess. */
function namesToday(words: string, today: DateTime): boolean {
  if (TIME_ALONE.test(words)) return true;
  if (!namesWeekday(words) || /^(?:on )?next /.test(words)) return false;
  const weekday = words
    .split(/[\s,]+/)
    .map(findWeekday)
    .find((one) => one !== null);
  return weekday === WEEKDAYS[today.weekday - 1];
}

const MONTH = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/;

/** Beside a month it only says once more which day is meant. */
function namesWeekday(words: string): boolean {
  if (MONTH.test(words)) return false;
  return words.split(/[\s,]+/).some((word) => findWeekday(word) !== null);
}

/** At the same time of the clock. */
function inAWeek(time: string, timezone: string): string {
  const later = DateTime.fromISO(time, { zone: timezone }).plus({ weeks: 1 });
  return time.includes("T") ? toZoned(later.toMillis(), timezone) : later.toFormat("yyyy-MM-dd");
}

function meantOrNull(times: readonly string[], isGuess: boolean): Meant | null {
  return times.length === 0 ? null : { times, isGuess };
}

/**
 * For the sentence that refuses a time which is no ISO 8601: those to come that it may mean to people, as they are to
 * be sent. Null: none.
 */
export function meantMoment(at: Now): (text: string) => Meant | null {
  const { now, timezone } = at;
  const msOf = (time: string): number => parseMoment("time", time, timezone).ms;
  const read = (words: string): string | null => {
    const when = readWhen(words, at);
    return when === null ? null : toZoned(msOf(when), timezone);
  };
  return (text) => {
    const { times, hasPart } = meantBy(text, at, read);
    const isDayAlone = DAY_ALONE.test(text.trim().toLowerCase());
    const ahead = times.filter((time) => msOf(time) > now);
    return meantOrNull(ahead, hasPart || isDayAlone);
  };
}

/** The same of a day or a time that chooses among what is there, which may be over. */
export function meantBound(at: Now): (text: string) => Meant | null {
  const read = (words: string): string => {
    const when = readBound(words, at);
    return when.includes("T") ? toZoned(parseMoment("time", when, at.timezone).ms, at.timezone) : when;
  };
  return (text) => {
    const { times, hasPart } = meantBy(text, at, read);
    return meantOrNull(times, hasPart);
  };
}

/**
 * The same of a day, from today on. A weekday is also that of the week of what is to be moved (`near`, milliseconds),
 * where that is no day after it the next one too, and the nearest comes first.
 */
export function meantDay(text: string, at: Now, near: readonly number[] = []): Meant | null {
  const dayOf = (ms: number): DateTime => DateTime.fromMillis(ms, { zone: at.timezone }).startOf("day");
  const { times, hasPart } = meantBy(text, at, (words) => readDate(words.replace(/ \d+:\d\d$/, ""), at));
  const [first] = times;
  const { weekday } = DateTime.fromISO(first ?? "");
  const own =
    first === undefined || !namesWeekday(text.toLowerCase())
      ? []
      : near.flatMap((ms) => {
          const day = dayOf(ms)
            .startOf("week")
            .plus({ days: weekday - 1 });
          const days = day > dayOf(ms) ? [day] : [day, day.plus({ weeks: 1 })];
          return days.map((one) => one.toFormat("yyyy-MM-dd"));
        });
  const today = dayOf(at.now).toFormat("yyyy-MM-dd");
  const ahead = [...new Set([...times, ...own])].filter((day) => day >= today);
  const start = Math.min(...near, Infinity);
  const far = (day: string): number =>
    Math.abs(DateTime.fromISO(day, { zone: at.timezone }).diff(dayOf(start), "days").days);
  const sorted = start === Infinity ? ahead : ahead.toSorted((a, b) => far(a) - far(b));
  return meantOrNull(sorted.slice(0, MOST_DAYS), hasPart && times.length > 1);
}

/** Posts of many weeks may be moved together. */
const MOST_DAYS = 4;

function orNull(read: () => string | null): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
