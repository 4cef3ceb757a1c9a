export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** What of a series tells its days. */
export interface DayRule {
  /** Its first day: `2026-11-21`. */
  readonly from: string;
  readonly every: number;
  readonly unit: "day" | "week" | "month" | "year";
  /** With week. Left out: the weekday of `from`. */
  readonly days?: readonly (typeof WEEKDAYS)[number][] | undefined;
}

/** More than a century of days: no clock gets there. */
const MOST_STEPS = 40_000;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The days on a rule, in order: `2026-11-21`. Plain dates know no zone and no clock change. */
export function* seriesDays({ from, every, unit, days }: DayRule): Generator<string> {
  const first = new Date(`${from}T00:00:00Z`);
  // From Monday on.
  const weekday = (first.getUTCDay() + 6) % 7;
  const weekdays = (days ?? [WEEKDAYS[weekday] ?? "mon"]).map((day) => WEEKDAYS.indexOf(day));
  const steps = unit === "week" ? [...new Set(weekdays)].sort((a, b) => a - b) : [0];
  const start = unit === "week" ? addDays(first, -weekday) : first;
  for (let step = 0; step < MOST_STEPS; step++) {
    // From the first day each time: the 31st is in shorter months on the last day, and the 31st of the next one.
    const base = addUnits(start, step * every, unit);
    for (const more of steps) {
      const day = addDays(base, more);
      if (day.getUTCFullYear() > 9_999) return;
      const text = day.toISOString().slice(0, 10);
      if (text >= from) yield text;
    }
  }
}

function addUnits(day: Date, count: number, unit: DayRule["unit"]): Date {
  if (unit === "day" || unit === "week") return addDays(day, count * (unit === "week" ? 7 : 1));
  const months = count * (unit === "year" ? 12 : 1);
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(day.getUTCDate(), last)));
}

function addDays(day: Date, days: number): Date {
  return new Date(day.getTime() + days * DAY_MS);
}
