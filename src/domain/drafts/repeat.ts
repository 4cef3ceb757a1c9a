import { DateTime } from "luxon";
import * as z from "zod";
import { CalendarDay, ClockTime } from "../time-fields.ts";
import { AppError } from "../errors.ts";
import { DAY, isTimezone } from "../time.ts";
import { quote } from "../text/plain-text.ts";
import { atWallTime, readWallClock } from "../wall-clock.ts";
import { seriesDays, WEEKDAYS } from "./series-days.ts";
import { lateStart, type LateStart } from "./tell-series.ts";

/** How posts come again: wall-clock times in a zone. */
export const Repeat = z
  .strictObject({
    every: z.int().min(1).max(366).default(1).describe("Each so many units."),
    unit: z.enum(["day", "week", "month", "year"]).describe("What is counted."),
    days: z.array(z.enum(WEEKDAYS)).min(1).max(7).optional().describe("With week. Default: from's day."),
    time: ClockTime.describe("On the clock there: 09:30."),
    timezone: z.string().max(100).optional().describe("IANA zone. Default: the owner's."),
    from: CalendarDay.optional().describe("First day. Default: today."),
    until: CalendarDay.optional().describe("Last day. Or times."),
    times: z.int().min(1).max(10_000).optional().describe("How often. Or until."),
    texts: z
      .array(z.string().min(1).max(100_000))
      .min(1)
      .max(100)
      .optional()
      .describe("Captions that take turns."),
  })
  .meta({ id: "Repeat" });
export type RepeatInput = z.infer<typeof Repeat>;

/** A rule with nothing left open, as it is kept and shown. */
export const Series = z
  .strictObject({
    every: z.int(),
    unit: Repeat.shape.unit,
    days: Repeat.shape.days,
    time: z.string(),
    timezone: z.string(),
    from: z.string(),
    until: z.string().optional(),
    times: z.int().optional(),
    texts: z.array(z.string()).optional(),
  })
  .meta({ id: "Series" });
export type Series = z.infer<typeof Series>;

/** One time that a series comes to. */
export interface Occurrence {
  /** From 0, with those that were skipped. Texts take turns by it. */
  readonly number: number;
  readonly at: number;
}

/** Throws `invalid` naming the field. */
export function readSeries(
  input: RepeatInput,
  near: { readonly now: number; readonly timezone: string },
): Series {
  const timezone = input.timezone ?? near.timezone;
  if (!isTimezone(timezone))
    throw new AppError(
      "invalid",
      `repeat.timezone: ${quote(timezone)} is not a time zone. Give an IANA name such as Europe/Berlin.`,
    );
  if (input.until !== undefined && input.times !== undefined)
    throw new AppError("invalid", "repeat.until, repeat.times: give one of the two.");
  if (input.days !== undefined && input.unit !== "week")
    throw new AppError("invalid", "repeat.days: only a week has days. Give unit week, or leave days out.");
  const series = { ...input, timezone, from: input.from ?? firstDay({ ...input, timezone }, near.now) };
  for (const field of ["from", "until"] as const) {
    const date = series[field];
    if (date !== undefined && !DateTime.fromISO(date, { zone: "UTC" }).isValid)
      throw new AppError("invalid", `repeat.${field}: ${quote(date)} is not a day of the calendar.`);
  }
  if (series.until !== undefined && series.until < series.from)
    throw new AppError(
      "invalid",
      `repeat.until: is before ${beginOf(series, input.from)}. Give a later day.`,
    );
  return series;
}

/** Who gave no first day is told which it is. */
function beginOf(series: Series, from: string | undefined): string {
  if (from !== undefined) return "repeat.from";
  const [first = series.from] = seriesDays(series);
  return `the first time, which is on ${first}`;
}

/**
 * Today. Where today's time is over, the next day with an occurrence, so that the series begins there. A next day that
 * is another day of the month is none to count from: the 31st is not the 28th.
 */
function firstDay(input: RepeatInput & { readonly timezone: string }, now: number): string {
  const { time, timezone, unit } = input;
  const today = readWallClock(now, timezone).date;
  const [first, next] = seriesDays({ ...input, from: today });
  if (first !== today || next === undefined || atWallTime({ date: today, time }, timezone) > now)
    return today;
  const keepsDay = unit === "day" || unit === "week" || dayOfMonth(next) === dayOfMonth(today);
  return keepsDay ? next : today;
}

/** Whether it would begin today, had its time not passed. */
export function missesToday(
  { from, timezone, ...input }: RepeatInput,
  near: { readonly now: number; readonly timezone: string },
): boolean {
  const zone = timezone ?? near.timezone;
  const today = readWallClock(near.now, zone).date;
  const [first] = seriesDays({ ...input, from: from ?? today });
  return first === today && atWallTime({ date: today, time: input.time }, zone) <= near.now;
}

/** Where it begins later than it says, as it was approved (or would be) at that moment. */
export function lateStartOf(series: Series, begun: number): LateStart | null {
  const { time, timezone } = series;
  const { date } = readWallClock(begun, timezone);
  const isOver = atWallTime({ date, time }, timezone) <= begun;
  return lateStart(series, isOver ? date : readWallClock(begun - DAY, timezone).date);
}

function dayOfMonth(date: string): string {
  return date.slice(-2);
}

interface Span {
  /** What came until then is no occurrence: the series was approved at that moment. Default: all are. */
  readonly begun?: number;
  /** Only those from about then on, which a long series tells quicker. */
  readonly since?: number;
}

/** In order, counted from the first after `begun` on. */
export function* occurrencesOf(
  series: Series,
  { begun = -Infinity, since = begun }: Span = {},
): Generator<Occurrence> {
  const { until, times = Infinity, timezone, time } = series;
  const [counted, first] = [dayAround(begun), dayAround(since)];
  let number = 0;
  for (const date of seriesDays(series)) {
    if (number >= times || (until !== undefined && date > until)) return;
    if (date < counted) continue;
    // Beyond the first they come after `begun` anyway.
    if (number === 0 || date >= first) {
      const at = atWallTime({ date, time }, timezone);
      if (at <= begun) continue;
      if (date >= first) yield { number, at };
    }
    number += 1;
  }
}

/** No day before it has begun anywhere by then: zones lie less than two days apart. */
function dayAround(ms: number): string {
  return ms === -Infinity ? "" : readWallClock(ms - 2 * DAY, "UTC").date;
}

/** So far ahead posts are made. */
export const AHEAD_MS = 14 * DAY;

/**
 * Those to be made at this moment: the next one, and all within two weeks. None of the past. `begun`: when the series
 * was approved. Default: it would be now.
 */
export function aheadOf(series: Series, now: number, begun = now): Occurrence[] {
  const ahead: Occurrence[] = [];
  for (const occurrence of occurrencesOf(series, { begun, since: now })) {
    if (occurrence.at <= now) continue;
    if (occurrence.at > now + AHEAD_MS && ahead.length > 0) return ahead;
    ahead.push(occurrence);
    if (occurrence.at > now + AHEAD_MS) return ahead;
  }
  return ahead;
}

/** The text whose turn it is; undefined: there are none. */
export function textOf({ texts }: Series, { number }: Occurrence): string | undefined {
  return texts?.[number % texts.length];
}
