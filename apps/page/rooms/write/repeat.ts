import type { Series } from "../../../../src/domain/drafts/repeat.ts";
import { formatDate } from "../../../../src/domain/drafts/tell-series.ts";
import type { Json } from "../../../shared/json.ts";
import { yearProblem } from "../../../shared/wall-time.ts";
import type { Day } from "../../../shared/zone.ts";
import { listed } from "../../../shared/texts.ts";

export const UNITS = ["day", "week", "month", "year"] as const;
export type Unit = (typeof UNITS)[number];

export const WEEKDAYS = [
  { value: "mon", label: "Monday" },
  { value: "tue", label: "Tuesday" },
  { value: "wed", label: "Wednesday" },
  { value: "thu", label: "Thursday" },
  { value: "fri", label: "Friday" },
  { value: "sat", label: "Saturday" },
  { value: "sun", label: "Sunday" },
] as const;
export type Weekday = (typeof WEEKDAYS)[number]["value"];

/** A series as its fields have it: numbers and days are texts while they are typed. */
export interface RepeatForm {
  readonly every: string;
  readonly unit: Unit;
  readonly days: readonly Weekday[];
  readonly time: string;
  readonly timezone: string;
  readonly from: Day;
  readonly end: "never" | "until" | "times";
  readonly until: Day;
  readonly times: string;
  /** Texts that take turns. Empty: always the same. */
  readonly texts: readonly string[];
}

/** From a time on, as `2026-11-28T09:00`. */
export function newRepeat(at: string, timezone: string): RepeatForm {
  const from = at.slice(0, 10);
  return {
    every: "1",
    unit: "week",
    days: weekdayOf(from),
    time: at.slice(11, 16),
    timezone,
    from,
    end: "never",
    until: "",
    times: "10",
    texts: [],
  };
}

function weekdayOf(day: Day): readonly Weekday[] {
  const weekday = WEEKDAYS[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7];
  return weekday === undefined ? [] : [weekday.value];
}

/** With another first day. The day of the week that it was goes with it. */
export function fromDay(repeat: RepeatForm, from: Day): RepeatForm {
  const isItsOwn = DAY.test(from) && repeat.days.join() === weekdayOf(repeat.from).join();
  return { ...repeat, from, days: isItsOwn ? weekdayOf(from) : repeat.days };
}

export function readRepeat(series: Series): RepeatForm {
  const { every, unit, days, time, timezone, from, until, times, texts } = series;
  const base = newRepeat(`${from}T${time}`, timezone);
  return {
    ...base,
    every: String(every),
    unit,
    days: days ?? base.days,
    time,
    end: until !== undefined ? "until" : times !== undefined ? "times" : "never",
    until: until ?? "",
    times: times === undefined ? base.times : String(times),
    texts: texts ?? [],
  };
}

/** As `repeat` of a draft takes it; only for a form without problems. */
export function repeatOf(form: RepeatForm): Json {
  const texts = form.texts.filter((text) => text.trim() !== "");
  return {
    every: Number(form.every),
    unit: form.unit,
    ...(form.unit === "week" && { days: form.days }),
    time: form.time,
    timezone: form.timezone,
    from: form.from,
    ...(form.end === "until" && { until: form.until }),
    ...(form.end === "times" && { times: Number(form.times) }),
    ...(texts.length > 0 && { texts }),
  };
}

interface RepeatProblem {
  readonly field: "every" | "days" | "time" | "from" | "until" | "times";
  readonly text: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function isDay(text: string): boolean {
  return DAY.test(text) && yearProblem(text) === null;
}

/** What is missing or wrong, field by field. */
export function repeatProblems(form: RepeatForm): readonly RepeatProblem[] {
  const { unit, end } = form;
  const problems: (RepeatProblem | false)[] = [
    !isWhole(form.every, 366) && { field: "every", text: "Give a whole number from 1 to 366." },
    unit === "week" &&
      form.days.length === 0 && { field: "days", text: "Choose at least one day of the week." },
    !/^\d{2}:\d{2}$/.test(form.time) && { field: "time", text: "Give a time such as 09:30." },
    !isDay(form.from) && { field: "from", text: yearProblem(form.from) ?? "Choose the first day." },
    end === "until" &&
      !isDay(form.until) && { field: "until", text: yearProblem(form.until) ?? "Choose the last day." },
    end === "until" &&
      isDay(form.until) &&
      form.until < form.from && {
        field: "until",
        text: "The last day is before the first. Choose a later one.",
      },
    end === "times" &&
      !isWhole(form.times, 10_000) && { field: "times", text: "Give a whole number from 1 to 10,000." },
  ];
  return problems.filter((one) => one !== false);
}

/** Texts take turns, and one of them is not written yet. */
export function turnsProblem({ texts }: RepeatForm): string | null {
  const empty = texts.findIndex((text) => text.trim() === "");
  return empty < 0 ? null : `Text ${empty + 1} of the series is empty. Write it, or remove it.`;
}

function isWhole(text: string, max: number): boolean {
  const number = Number(text);
  return text.trim() !== "" && Number.isInteger(number) && number >= 1 && number <= max;
}

/** The rule in words: `Every 2 weeks on Monday and Friday at 09:00 (UTC)`. `clock`: how a time is written. */
export function inWords(form: RepeatForm, clock: (time: string) => string): string {
  const { every, unit, days, time, timezone, from } = form;
  const count = Number(every);
  const pace = count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`;
  const chosen = WEEKDAYS.filter(({ value }) => days.includes(value)).map(({ label }) => label);
  const inWeek = chosen.length === 7 ? " on every day" : ` on ${listed(chosen)}`;
  const on = unit === "day" ? "" : unit === "week" ? inWeek : formatDate(unit, from);
  return `${pace}${on} at ${clock(time)} (${timezone})`;
}

/** What is said once it is begun. `where`: its channels. */
export function seriesStartInWords(form: RepeatForm, clock: (time: string) => string, where: string): string {
  const rule = inWords(form, clock);
  return `The series is started: ${rule.charAt(0).toLowerCase()}${rule.slice(1)} on ${where}.`;
}

/** How texts take turns. */
export function turnsInWords(count: number): string {
  if (count === 1) return "Text 1 goes out each time, instead of the text of the post.";
  return `Text 1 goes out the first time, text 2 the second time${count > 2 ? ", and so on" : ""}. After text ${count} comes text 1 again. The text of the post itself is not used.`;
}
