import { DateTime } from "luxon";
import { WEEKDAYS } from "../../domain/accounts/schedule.ts";
import { METRICS, type Metric, type ReportRow } from "../../domain/posts/results.ts";
import { DAY, HOUR, MINUTE } from "../../domain/time.ts";

/** The unit of times in packed figures: no zone is off by less. */
const QUARTER = 15 * MINUTE;

const COMMA = 44;
const SEMICOLON = 59;
const BAR = 124;
const ZERO = 48;

/** One post as it is read; the same object for each, filled anew. */
export interface Reading {
  /** When it went live, to the quarter of an hour. */
  at: number;
  /** First letter of its `MediaType`. */
  media: string;
  /** In the order of METRICS; -1: not known. */
  readonly values: Float64Array;
  /** "" where ids were not read. */
  id: string;
}

/**
 * Goes through packed figures, character by character: hundreds of thousands of posts are read for one report,
 * and pieces of text for each would cost more than the rest of it.
 */
export function readEach(packed: string, each: (reading: Reading) => void): void {
  const reading: Reading = { at: 0, media: "", values: new Float64Array(METRICS.length), id: "" };
  const { values } = reading;
  let at = 0;
  const end = packed.length;
  while (at < end) {
    let time = 0;
    for (let code = packed.charCodeAt(at); code !== COMMA; code = packed.charCodeAt(++at))
      time = time * 10 + code - ZERO;
    reading.at = time * QUARTER;
    reading.media = packed.charAt(at + 1);
    at += 3;
    values.fill(-1);
    reading.id = "";
    let metric = 0;
    let value = -1;
    for (; at < end; at += 1) {
      const code = packed.charCodeAt(at);
      if (code === COMMA) {
        values[metric++] = value;
        value = -1;
      } else if (code === SEMICOLON) break;
      else if (code === BAR) {
        const stop = packed.indexOf(";", at);
        reading.id = packed.slice(at + 1, stop < 0 ? end : stop);
        at = stop < 0 ? end : stop;
        break;
      } else value = (value < 0 ? 0 : value * 10) + code - ZERO;
    }
    if (metric < METRICS.length) values[metric] = value;
    each(reading);
    at += 1;
  }
}

/** Posts of one row of a report. */
export class Group {
  posts = 0;
  readonly #values: readonly number[][] = METRICS.map(() => []);
  readonly #medians = new Map<Metric, number>();

  add({ values }: Pick<Reading, "values">): void {
    this.posts += 1;
    for (let metric = 0; metric < values.length; metric += 1) {
      const value = values[metric] ?? -1;
      if (value >= 0) this.#values[metric]?.push(value);
    }
  }

  /** How many posts have this figure. */
  count(metric: Metric): number {
    return this.#of(metric).length;
  }

  /** Null where no post has it. */
  median(metric: Metric): number | null {
    const known = this.#medians.get(metric);
    if (known !== undefined) return known;
    const median = medianOf(this.#of(metric));
    if (median !== null) this.#medians.set(metric, median);
    return median;
  }

  sum(metric: Metric): number {
    return this.#of(metric).reduce((sum, one) => sum + one, 0);
  }

  /** Every figure that these metrics have; null where no post has it. */
  show(metrics: readonly Metric[]): ReportRow["metrics"] {
    return Object.fromEntries(
      metrics.map((metric) => {
        const median = this.median(metric);
        return [
          metric,
          median === null ? null : { sum: this.sum(metric), median, posts: this.count(metric) },
        ];
      }),
    );
  }

  #of(metric: Metric): number[] {
    return this.#values[METRICS.indexOf(metric)] ?? [];
  }
}

/** The middle, of an even number the mean of the two. Null: there are none. */
export function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** What a clock of a zone shows: the day of the week from 0 (Monday), and minutes since midnight. */
interface WeekTime {
  readonly weekday: number;
  readonly minutes: number;
}

/** Reads clocks of zones. Offsets are asked once a day, and by the hour on days that change theirs. */
export class Clocks {
  readonly #offsets = new Map<string, number | null>();

  read(ms: number, zone: string): WeekTime {
    const local = ms + this.#offset(ms, zone);
    const day = Math.floor(local / DAY);
    // The first day of 1970 was a Thursday.
    return { weekday: (((day + 3) % 7) + 7) % 7, minutes: Math.floor((local - day * DAY) / MINUTE) };
  }

  #offset(ms: number, zone: string): number {
    const day = Math.floor(ms / DAY);
    const known = this.#offsets.get(`${zone} ${day}`);
    if (known !== undefined) return known ?? offsetAt(ms, zone);
    const [first, last] = [offsetAt(day * DAY, zone), offsetAt((day + 1) * DAY - 1, zone)];
    this.#offsets.set(`${zone} ${day}`, first === last ? first : null);
    return first === last ? first : offsetAt(ms, zone);
  }
}

function offsetAt(ms: number, zone: string): number {
  return DateTime.fromMillis(ms, { zone }).offset * MINUTE;
}

/** The key of an hour of the week: `mon 09:00`. */
export function hourKey({ weekday, minutes }: WeekTime): string {
  const hour = Math.floor((minutes * MINUTE) / HOUR);
  return `${WEEKDAYS[weekday] ?? "mon"} ${String(hour).padStart(2, "0")}:00`;
}
