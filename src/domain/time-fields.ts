import * as z from "zod";
import { unwrapped } from "./optional.ts";
import { EXAMPLE_DAY, EMPTY_TIME, EMPTY_DAY } from "./time.ts";
import { findWeekday, readClock } from "./wall-clock.ts";

const isThere = z.refine<string>((text) => text.trim() !== "", EMPTY_TIME);
const isDayThere = z.refine<string>((text) => text.trim() !== "", EMPTY_DAY);
const onClock = z.regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 09:30");
const onCalendar = z.regex(/^\d{4}-\d{2}-\d{2}$/, `must be a date such as ${EXAMPLE_DAY}`);

/**
 * When something goes out. An empty text leaves other arguments out, but not this one: "at once" or "for ever" must
 * not come of a slip. Times that choose what is there already are `optionalBounds`.
 */
export const Moment = z.string().check(isThere);
/** A day that something moves to, which may be written as people do: the refusal tells the date. */
export const MovedToDay = z.string().check(isDayThere);
/** A day of the calendar, and a time of the clock, for which the same holds. */
export const CalendarDay = z.string().check(onCalendar);
export const ClockTime = z.string().check(onClock);

/** In place of a time. */
export const Slot = z.enum(["next"]);

/** Whether this argument is such a time, so that an empty text is refused. */
export function isTime(field: z.ZodType): boolean {
  return [isThere, isDayThere, onClock, onCalendar].some((check) => hasCheck(field, check));
}

/** As a clock shows what people write (`9am`); others as they are. */
export function asClockTime(field: z.ZodType, text: string): string {
  return hasCheck(field, onClock) ? (readClock(text) ?? text) : text;
}

function hasCheck(field: z.ZodType, check: z.core.$ZodCheck<string>): boolean {
  return unwrapped(field).def.checks?.includes(check) === true;
}

const WEEKDAY = "mon";

/** As our lists call the day that a name means (`Monday`); others as they are. */
export function asWeekday(field: z.ZodType, text: string): string {
  const plain = unwrapped(field);
  return plain instanceof z.ZodEnum && plain.options.includes(WEEKDAY) ? (findWeekday(text) ?? text) : text;
}
