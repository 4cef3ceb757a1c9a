import { now } from "./clock.ts";
import type { Day } from "./zone.ts";

const MONDAY = 1;

/** How moments and days are written; the words are English, as all words of the page. */
export interface Formats {
  /** 1 for Monday to 7 for Sunday. */
  readonly firstWeekday: number;
  month(day: Day): string;
  weekday(day: Day): string;
  /** With its weekday, short and in full. The short one has its year where that is not this one. */
  shortDay(day: Day): string;
  longDay(day: Day): string;
  /** From the first day to the last. */
  range(from: Day, to: Day): string;
  time(ms: number): string;
  hour(hour: number): string;
}

/** `locale` is the host's: it decides on the clock of 12 or 24 hours and on the first day of the week. */
export function createFormats(locale: string, timezone: string): Formats {
  const language = /^en\b/i.test(locale) ? locale : "en-GB";
  const ofDay = (options: Intl.DateTimeFormatOptions): ((day: Day) => string) => {
    const format = new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" });
    return (day) => format.format(atMidnight(day));
  };
  const near = { weekday: "short", day: "numeric", month: "short" } as const;
  const thisYear = new Intl.DateTimeFormat("en", { year: "numeric", timeZone: timezone });
  const [nearDay, farDay] = [ofDay(near), ofDay({ ...near, year: "numeric" })];
  const clock = clockOf(locale);
  const time = new Intl.DateTimeFormat(language, { ...clock, timeZone: timezone });
  const hour = new Intl.DateTimeFormat(language, { ...clock, timeZone: "UTC" });
  const range = new Intl.DateTimeFormat(language, {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
  return {
    firstWeekday: firstWeekdayOf(locale),
    month: ofDay({ month: "long", year: "numeric" }),
    weekday: ofDay({ weekday: "short" }),
    shortDay: (day) => (day.startsWith(`${thisYear.format(now())}-`) ? nearDay : farDay)(day),
    longDay: ofDay({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
    range: (from, to) => range.formatRange(atMidnight(from), atMidnight(to)),
    time: (ms) => time.format(ms),
    hour: (at) => hour.format(at * 3_600_000),
  };
}

function atMidnight(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Falls back for a host that gives no locale, or one that is none. */
export function usableLocale(locale: string): string {
  try {
    return new Intl.Locale(locale).toString();
  } catch {
    return "en-GB";
  }
}

/** "9:00 AM" where people count to twelve, else "09:00". */
function clockOf(locale: string): Intl.DateTimeFormatOptions {
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions();
  return hour12 === true
    ? { hour: "numeric", minute: "2-digit" }
    : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
}

function firstWeekdayOf(locale: string): number {
  const read = new Intl.Locale(locale);
  // Not in every browser, and nowhere in TypeScript's library.
  const info: unknown =
    "getWeekInfo" in read && typeof read.getWeekInfo === "function" ? read.getWeekInfo() : null;
  const first = typeof info === "object" && info !== null && "firstDay" in info ? info.firstDay : MONDAY;
  return typeof first === "number" ? first : MONDAY;
}
