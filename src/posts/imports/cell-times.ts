import { AppError } from "../../domain/errors.ts";
import { meantDay, meantMoment } from "../../domain/arguments/meant-times.ts";
import { askWhich, NOW } from "../../domain/parse-time.ts";
import { say } from "../../domain/sentences.ts";
import { EXAMPLE_DAY } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { findWeekday, readClock, readWallClock } from "../../domain/wall-clock.ts";

/*
 * Dates and times as people and spreadsheets write them. A cell that can mean one thing alone becomes ISO 8601. Every
 * other one stays as it is, so that what refuses it quotes what stands there.
 */

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
const ISO_TIME =
  /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[zZ]|[+-](?:0\d|1[0-8])(?::?[0-5]\d)?)?$/;
const YEAR_FIRST = /^(\d{4})([/.-])(\d{1,2})\2(\d{1,2})$/;
/** Whether the day or the month comes first, it does not tell; where dots stand, it is the day in every country. */
const YEAR_LAST = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})$/;
const DAY_AND_TIME = /^(\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4})(?:,? +|T)(\d.*)$/;
/** Beside the name of a month: `4`, `4.`, `4th`. */
const NAMED_DATE = /^(\d{1,2})(?:st|nd|rd|th|\.)?$/i;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH_NAMES =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/i;
const TIME = /^(\d{1,2}):(\d{2})(:\d{2}(?:\.\d{1,9})?)?( ?(?:[zZ]|[+-]\d{2}(?::?\d{2})?))?$/;
/** As Excel shows times of twelve hours: `9:30:00 AM`. */
const FULL_MINUTE = /^(\d{1,2}:\d{2}):00(?=\s?[ap])/i;
/** Longer cells hold no time, and are not looked at again and again. */
const MAX_CHARS = 60;

/** Which comes first in dates that end with the year. Null: nothing tells. */
export type DateOrder = "day" | "month" | null;

interface Order {
  readonly order: DateOrder;
  /** Whether any cell has such a date. */
  readonly isAsked: boolean;
  /** How dates were read that others told about, and why. Null: none were. */
  readonly told: string | null;
}

/** The moment of the import, and the zone of its times. */
export interface Here {
  readonly now: number;
  readonly timezone: string;
}

/** What all these cells together allow. */
export function orderOf(cells: readonly string[]): Order {
  const found = cells.flatMap((cell) => {
    const [, one, sign, two] = YEAR_LAST.exec(split(cell).day) ?? [];
    return one === undefined || sign === "." ? [] : [{ cell, one: Number(one), two: Number(two) }];
  });
  const isDay = found.find(({ one, two }) => one > 12 && two <= 12);
  const isMonth = found.find(({ one, two }) => two > 12 && one <= 12);
  const isAsked = found.length > 0;
  const telling = isDay ?? isMonth;
  if (telling === undefined || (isDay !== undefined && isMonth !== undefined))
    return { order: null, isAsked, told: null };
  const order = isDay === undefined ? "month" : "day";
  const unclear = found.find(({ one, two }) => one <= 12 && two <= 12 && one !== two);
  const how = order === "day" ? "day/month/year" : "month/day/year";
  const told =
    unclear === undefined
      ? null
      : `Dates such as ${quote(unclear.cell)} were read as ${how}, because of ${quote(telling.cell)}. If that is wrong, write them as ${EXAMPLE_DAY}.`;
  return { order, isAsked, told };
}

/** A day with its time, as ISO 8601. */
export function toIsoMoment(cell: string, order: DateOrder): string {
  const { day, time } = split(cell);
  if (ISO_DAY.test(day) && TIME.test(time)) return cell;
  const [date, clock] = [toIsoDay(day, order), toIsoTime(time)];
  return ISO_DAY.test(date) && ISO_TIME.test(clock) ? `${date}T${clock}` : cell;
}

export function toIsoDay(cell: string, order: DateOrder): string {
  const text = cell.trim();
  const [, year, , month = "", day = ""] = YEAR_FIRST.exec(text) ?? [];
  if (year !== undefined) return onCalendar(year, month, day) ?? cell;
  const [, one = "", sign, two = "", last] = YEAR_LAST.exec(text) ?? [];
  if (last === undefined) return namedDay(text) ?? cell;
  if (sign === ".") return onCalendar(last, two, one) ?? cell;
  const [dayFirst, monthFirst] = [onCalendar(last, two, one), onCalendar(last, one, two)];
  // The same day either way, or a day on one of them alone.
  if (dayFirst === null || monthFirst === null || dayFirst === monthFirst)
    return dayFirst ?? monthFirst ?? cell;
  return (order === "day" ? dayFirst : order === "month" ? monthFirst : null) ?? cell;
}

export function toIsoTime(cell: string): string {
  const text = cell.trim();
  if (text.length > MAX_CHARS) return cell;
  const [, hour = "", minute = "", seconds = "", offset = ""] = TIME.exec(text) ?? [];
  const iso = `${hour.padStart(2, "0")}:${minute}${seconds}${offset.trim()}`;
  return ISO_TIME.test(iso) ? iso : (readClock(text.replace(FULL_MINUTE, "$1")) ?? cell);
}

/** A day and a time that stand in cells of their own. Throws `invalid` that quotes the one that is none. */
export function joinCells(day: string, time: string, here: Here): string {
  if (!isPlanned(day)) throw noDay(here, "date", day);
  if (!ISO_TIME.test(time))
    throw new AppError(
      "invalid",
      `time: ${time.trim() === "" ? "is empty" : `${quote(time)} is not a time of day`}. Write it as 09:00.`,
    );
  return `${day}T${time}`;
}

/** Whether a plan may have that day. */
function isPlanned(day: string): boolean {
  const [year = "", month = "", date = ""] = day.split("-");
  return ISO_DAY.test(day) && onCalendar(year, month, date) !== null;
}

/** What refuses a cell, with the time as people write it into a table. */
export function inTable(error: unknown): unknown {
  const [first] = error instanceof AppError ? error.sentences : [];
  if (first?.next.some((step) => step.do === "give_time") !== true) return error;
  const { field, what } = first;
  return new AppError("invalid", say(`${what} Write it as ${EXAMPLE_DAY} 09:00.`, { field }));
}

/** Throws `invalid` for a cell that lacks its time, or may mean two days. What else is wrong is told of any time. */
export function assertClear(cell: string, here: Here): void {
  if (NOW.test(cell.trim()))
    throw new AppError(
      "invalid",
      `scheduledAt: ${quote(cell)} is not a date and time. An import publishes nothing at once. Write a day and a time that are ahead.`,
    );
  const { day, time } = split(cell);
  const isDay = toIsoDay(day, "day") !== day || ISO_DAY.test(day);
  if (isDay && time === "")
    throw new AppError(
      "invalid",
      `scheduledAt: ${quote(cell)} has no time of day. Write it as ${day} 09:00.`,
    );
  if (lacksYear(day)) throw noDay(here, "scheduledAt", cell);
  if (isDay && toIsoDay(day, null) === day && !ISO_DAY.test(day))
    throw noDay(here, "scheduledAt", cell, toIsoTime(time));
}

function noDay(here: Here, field: string, cell: string, time = ""): AppError {
  const { day } = split(cell);
  const [one, other] = [toIsoDay(day, "day"), toIsoDay(day, "month")];
  const clock = ISO_TIME.test(time) ? ` ${time}` : "";
  if (cell.trim() === "") return new AppError("invalid", `${field}: is empty. Write it as ${EXAMPLE_DAY}.`);
  if (lacksYear(day)) {
    const meant = field === "date" ? meantDay(cell, here) : meantMoment(here)(cell);
    const next = meant === null ? "Write it with its year." : askWhich({ ...meant, isGuess: true });
    return new AppError("invalid", `${field}: ${quote(cell)} names no year. ${next}`);
  }
  if (one === other) {
    const reach =
      isInReach(one.slice(0, 4)) || !ISO_DAY.test(one) ? "" : ` from ${FIRST_YEAR} to ${LAST_YEAR}`;
    return new AppError(
      "invalid",
      `${field}: ${quote(cell)} is not a day${reach}. Write it as ${EXAMPLE_DAY}.`,
    );
  }
  const today = readWallClock(here.now, here.timezone).date;
  const ahead = [one, other].filter((date) => date >= today);
  const which = (ahead.length === 0 ? [one, other] : ahead).map((date) => `${date}${clock}`).join(" or as ");
  const ifSo = ahead.length === 1 ? ", if that is meant: the other day is over" : "";
  return new AppError(
    "invalid",
    `${field}: ${quote(cell)} may begin with the day or with the month. Write it as ${which}${ifSo}.`,
  );
}

/** A day with the name of its month, and its year; null for others, and where the weekday is another. */
function namedDay(text: string): string | null {
  const { day, time, year, weekday } = readNamed(text) ?? {};
  if (day === undefined || year === undefined || time !== undefined) return null;
  const date = onCalendar(year, day.month, day.date);
  if (date === null || weekday === undefined) return date;
  const named = new Date(`${date}T00:00:00Z`).toLocaleDateString("en", { weekday: "long", timeZone: "UTC" });
  return findWeekday(weekday) === findWeekday(named) ? date : null;
}

interface NamedDay {
  readonly day: { readonly month: string; readonly date: string };
  readonly weekday: string | undefined;
  /** Undefined: it has none. */
  readonly year: string | undefined;
  readonly time: string | undefined;
}

function lacksYear(text: string): boolean {
  const named = readNamed(text);
  return named !== null && named.year === undefined;
}

/** Such as `Friday 4 December 2026, 9:00` or `Dec. 4th, 2026 at 9am`. Null where no month is named. */
function readNamed(text: string): NamedDay | null {
  const words = text.length > MAX_CHARS ? [] : text.split(/[\s,]+/).filter((word) => !FILLING.includes(word));
  const weekday = findWeekday(words[0] ?? "") === null ? undefined : words.shift();
  const [one = "", two = "", year = "", ...time] = words;
  const date = NAMED_DATE.exec(one)?.[1] ?? NAMED_DATE.exec(two)?.[1];
  const month = (NAMED_DATE.test(one) ? two : one).replace(/\.$/, "");
  if (date === undefined || !MONTH_NAMES.test(month)) return null;
  const day = { month: String(MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1), date };
  if (!/^\d{4}$/.test(year)) return { day, weekday, year: undefined, time: undefined };
  return { day, weekday, year, time: time.length === 0 ? undefined : time.join(" ") };
}

const FILLING: readonly string[] = ["", "of", "at"];

function split(cell: string): { readonly day: string; readonly time: string } {
  const text = cell.trim();
  const named = readNamed(text);
  if (named?.time !== undefined && named.year !== undefined) {
    const { day, year, weekday, time } = named;
    const month = MONTHS[Number(day.month) - 1] ?? "";
    return { day: [weekday ?? "", day.date, month, year].join(" ").trim(), time };
  }
  const [, day = text, time = ""] = (text.length > MAX_CHARS ? null : DAY_AND_TIME.exec(text)) ?? [];
  return { day, time };
}

const [FIRST_YEAR, LAST_YEAR] = [1_970, 2_199];

function isInReach(year: string): boolean {
  return Number(year) >= FIRST_YEAR && Number(year) <= LAST_YEAR;
}

/** Null where no calendar has that day, or no plan reaches it. */
function onCalendar(year: string, month: string, day: string): string | null {
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const read = new Date(`${date}T00:00:00Z`);
  const isThere = !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date);
  return isThere && isInReach(year) ? date : null;
}
