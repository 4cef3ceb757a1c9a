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

const AS_GIVEN: Writing = { clock: (time) => time, day: (day) => day };

/**
 * In words: "Every 2 weeks on Mon, Thu at 09:30 (Europe/Berlin), from 2026-11-24, without an end". How the
 * reader writes times and days can be given. Default: as they are given.
 */
export function tellSeries(series: ToldSeries, { clock, day }: Writing = AS_GIVEN): string {
  const { every, unit, days = [], time, timezone, from, until, times, texts = [] } = series;
  const names = days.map((name) => name.replace(/^./, (letter) => letter.toUpperCase()));
  return [
    `Every ${every === 1 ? unit : `${every} ${unit}s`}`,
    names.length === 0 ? "" : ` on ${names.join(", ")}`,
    ` at ${clock(time)} (${timezone}), from ${day(from)}`,
    until === undefined ? "" : ` until ${day(until)}`,
    times === undefined ? "" : times === 1 ? ", once" : `, ${times} times`,
    isEndless(series) ? ", without an end" : "",
    texts.length === 0
      ? ""
      : `; ${texts.length === 1 ? "1 text is repeated" : `${texts.length} texts take turns`}`,
  ].join("");
}
