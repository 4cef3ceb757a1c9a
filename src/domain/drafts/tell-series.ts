import { formatDay } from "../posts/for-people.ts";
import { type DayRule, seriesDays, WEEKDAYS } from "./series-days.ts";

/** A series as a caller or an answer has it. */
export interface ToldSeries extends DayRule {
  readonly time: string;
  readonly timezone: string;
  readonly until?: string | undefined;
  readonly times?: number | undefined;
  readonly texts?: readonly string[] | undefined;
}

/** Whether it goes on until a person ends it. */
export function isEndless({ until, times }: Pick<ToldSeries, "until" | "times">): boolean {
  return until === undefined && times === undefined;
}

interface Writing {
  clock(time: string): string;
  day(day: string): string;
}

/** The first day of a series whose time was over when it was approved, and the day that it begins on. */
export interface LateStart {
  readonly missed: string;
  readonly first: string;
}

/** `lastOver`: the last day whose time was over then. Null: no time of it was, or none is left. */
export function lateStart(series: ToldSeries, lastOver: string): LateStart | null {
  let missed: string | null = null;
  for (const day of seriesDays(series)) {
    if (series.until !== undefined && day > series.until) return null;
    if (day > lastOver) return missed === null ? null : { missed, first: day };
    missed ??= day;
  }
  return null;
}

const IN_ENGLISH: Writing = { clock: (time) => time, day: formatDay };

/**
 * In words: "Every 2 weeks on Mon, Thu at 09:30 (Europe/Berlin), from Tue 24 Nov 2026, without an end". How the
 * reader writes times and days can be given. `late`: it begins on another day than was planned.
 */
export function describeSeries(
  series: ToldSeries,
  late: LateStart | null,
  { clock, day }: Writing = IN_ENGLISH,
): string {
  const { every, unit, time, timezone, from, until, times, texts = [] } = series;
  return [
    `Every ${every === 1 ? unit : `${every} ${unit}s`}${describeDays(series)}`,
    ` at ${clock(time)} (${timezone}), from ${day(late?.first ?? from)}`,
    late === null ? "" : `, because ${clock(time)} of ${day(late.missed)} is over`,
    until === undefined ? "" : `${late === null ? "" : ","} until ${day(until)}`,
    times === undefined ? "" : times === 1 ? ", once" : `, ${times} times`,
    isEndless(series) ? ", without an end" : "",
    texts.length === 0
      ? ""
      : `; ${texts.length === 1 ? "1 text is repeated" : `${texts.length} texts take turns`}`,
  ].join("");
}

/** The last day of the shortest month. */
const DAY_OF_ALL_MONTHS = 28;

/** On which day of each month or year, and what stands for it where there is none such. */
export function formatDate(unit: "month" | "year", from: string): string {
  const date = new Date(`${from}T00:00:00Z`).getUTCDate();
  if (unit === "year")
    return ` on ${formatDay(from).split(" ").slice(1, 3).join(" ")}${from.endsWith("-02-29") ? " (28 Feb in other years)" : ""}`;
  return ` on day ${date}${date > DAY_OF_ALL_MONTHS ? " (in shorter months on the last day)" : ""}`;
}

/** Which days of a week, month or year. Without `days` a week has that of the first day. */
function describeDays({ unit, days = [], from }: ToldSeries): string {
  const first = new Date(`${from}T00:00:00Z`);
  if (unit === "day" || Number.isNaN(first.getTime())) return "";
  if (unit === "month" || unit === "year") return formatDate(unit, from);
  const own = WEEKDAYS[(first.getUTCDay() + 6) % 7] ?? "";
  const names = (days.length === 0 ? [own] : days).map((name) =>
    name.replace(/^./, (letter) => letter.toUpperCase()),
  );
  return ` on ${names.join(", ")}`;
}

/** For an answer: what it does in months, or years, that do not have its day. Empty: all have it. */
export function describeShortMonths(series: ToldSeries, name = "The series"): string[] {
  const days = describeDays(series);
  return days.endsWith(")") ? [`${name} goes out${days}.`] : [];
}
