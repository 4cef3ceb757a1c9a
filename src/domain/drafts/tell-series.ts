import { formatDay } from "../posts/for-people.ts";
import { WEEKDAYS } from "./series-days.ts";

/** A series as a caller or an answer has it. */
export interface ToldSeries {
  readonly every: number;
  readonly unit: string;
  readonly days?: readonly string[] | undefined;
  readonly time: string;
  readonly timezone: string;
  readonly from: string;
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

const IN_ENGLISH: Writing = { clock: (time) => time, day: formatDay };

/**
 * In words: "Every 2 weeks on Mon, Thu at 09:30 (Europe/Berlin), from Tue 24 Nov 2026, without an end". How the
 * reader writes times and days can be given.
 */
export function describeSeries(series: ToldSeries, { clock, day }: Writing = IN_ENGLISH): string {
  const { every, unit, time, timezone, from, until, times, texts = [] } = series;
  return [
    `Every ${every === 1 ? unit : `${every} ${unit}s`}${describeDays(series)}`,
    ` at ${clock(time)} (${timezone}), from ${day(from)}`,
    until === undefined ? "" : ` until ${day(until)}`,
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
