import { AppError } from "../domain/errors.ts";
import { quote } from "../domain/time.ts";
import { readClock } from "../domain/wall-clock.ts";

/*
 * Dates and times as people and spreadsheets write them. A cell that can mean one thing alone becomes ISO 8601. Every
 * other one stays as it is, so that what refuses it quotes what stands there.
 */

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
const ISO_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[zZ]|[+-]\d{2}(?::?\d{2})?)?$/;
const YEAR_FIRST = /^(\d{4})([/.-])(\d{1,2})\2(\d{1,2})$/;
/** Whether the day or the month comes first, it does not tell. */
const YEAR_LAST = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})$/;
const DAY_AND_TIME = /^(\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4})(?:,? +|T)(\d.*)$/;
const TIME = /^(\d{1,2}):(\d{2})(:\d{2}(?:\.\d{1,9})?)?( ?(?:[zZ]|[+-]\d{2}(?::?\d{2})?))?$/;
/** As Excel shows times of twelve hours: `9:30:00 AM`. */
const FULL_MINUTE = /^(\d{1,2}:\d{2}):00(?=\s?[ap])/i;
/** Longer cells hold no time, and are not looked at again and again. */
const MAX_CHARS = 60;

/** Which comes first in dates that end with the year. Null: nothing tells. */
export type DateOrder = "day" | "month" | null;

/** What all these cells together allow. */
export function orderOf(cells: readonly string[]): { readonly order: DateOrder; readonly isAsked: boolean } {
  const found = cells.flatMap((cell) => {
    const [, one, , two] = YEAR_LAST.exec(split(cell).day) ?? [];
    return one === undefined ? [] : [[Number(one), Number(two)] as const];
  });
  const isDay = found.some(([one, two]) => one > 12 && two <= 12);
  const isMonth = found.some(([one, two]) => two > 12 && one <= 12);
  return { order: isDay === isMonth ? null : isDay ? "day" : "month", isAsked: found.length > 0 };
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
  const [, one = "", , two = "", last] = YEAR_LAST.exec(text) ?? [];
  if (last === undefined) return cell;
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
  if (hour !== "" && Number(hour) < 24 && Number(minute) < 60)
    return `${hour.padStart(2, "0")}:${minute}${seconds}${offset.trim()}`;
  return readClock(text.replace(FULL_MINUTE, "$1")) ?? cell;
}

/** A day and a time that stand in cells of their own. Throws `invalid` that quotes the one that is none. */
export function joinCells(day: string, time: string): string {
  if (!ISO_DAY.test(day)) throw noDay("date", day, "");
  if (!ISO_TIME.test(time))
    throw new AppError(
      "invalid",
      `time: ${time.trim() === "" ? "is empty" : `${quote(time)} is not a time of day`}. Write it as 09:00.`,
    );
  return `${day}T${time}`;
}

/** Throws `invalid` for a cell that lacks its time, or may mean two days. What else is wrong is told of any time. */
export function assertClear(cell: string): void {
  const { day, time } = split(cell);
  const isDay = toIsoDay(day, "day") !== day || ISO_DAY.test(day);
  if (isDay && time === "")
    throw new AppError(
      "invalid",
      `scheduledAt: ${quote(cell)} has no time of day. Write it as ${day} 09:00.`,
    );
  if (isDay && toIsoDay(day, null) === day && !ISO_DAY.test(day))
    throw noDay("scheduledAt", cell, toIsoTime(time));
}

function noDay(field: string, cell: string, time: string): AppError {
  const { day } = split(cell);
  const [one, other] = [toIsoDay(day, "day"), toIsoDay(day, "month")];
  const clock = ISO_TIME.test(time) ? ` ${time}` : "";
  if (cell.trim() === "") return new AppError("invalid", `${field}: is empty. Write it as 2026-11-21.`);
  if (one === other)
    return new AppError("invalid", `${field}: ${quote(cell)} is not a day. Write it as 2026-11-21.`);
  return new AppError(
    "invalid",
    `${field}: ${quote(cell)} may begin with the day or with the month. Write it as ${one}${clock} or as ${other}${clock}.`,
  );
}

function split(cell: string): { readonly day: string; readonly time: string } {
  const text = cell.trim();
  const [, day = text, time = ""] = (text.length > MAX_CHARS ? null : DAY_AND_TIME.exec(text)) ?? [];
  return { day, time };
}

/** Null where no calendar has that day, or no plan reaches it. */
function onCalendar(year: string, month: string, day: string): string | null {
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const read = new Date(`${date}T00:00:00Z`);
  const isThere = !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date);
  return isThere && year >= "1970" && year < "2200" ? date : null;
}
