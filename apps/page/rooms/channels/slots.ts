import type { Schedule, Weekday } from "../../../../src/domain/accounts/schedule.ts";

export const DAYS = [
  { day: "mon", name: "Monday" },
  { day: "tue", name: "Tuesday" },
  { day: "wed", name: "Wednesday" },
  { day: "thu", name: "Thursday" },
  { day: "fri", name: "Friday" },
  { day: "sat", name: "Saturday" },
  { day: "sun", name: "Sunday" },
] as const satisfies readonly { readonly day: Weekday; readonly name: string }[];

/** The times of each day as `HH:MM`, in order, each once. A day without any may be left out. */
export type Week = Readonly<Partial<Record<Weekday, readonly string[]>>>;

type Slots = Schedule["slots"];

export function timesOf(week: Week, day: Weekday): readonly string[] {
  return week[day] ?? [];
}

export function countSlots(week: Week): number {
  return DAYS.reduce((sum, { day }) => sum + timesOf(week, day).length, 0);
}

/** The same times on several days. What is there already is there once. */
export function addTimes(week: Week, days: readonly Weekday[], times: readonly string[]): Week {
  const added = days.map((day) => [day, [...new Set([...timesOf(week, day), ...times])].toSorted()] as const);
  return { ...week, ...Object.fromEntries(added) };
}

export function removeTime(week: Week, day: Weekday, time: string): Week {
  return { ...week, [day]: timesOf(week, day).filter((one) => one !== time) };
}

export function weekOf(slots: Slots): Week {
  return slots.reduce<Week>((week, { days, times }) => addTimes(week, days, times), {});
}

/** Days with the same times stand together, as a person would say them. */
export function slotsOf(week: Week): Slots {
  const days = new Map<string, Weekday[]>();
  for (const { day } of DAYS) {
    const times = timesOf(week, day).join();
    if (times !== "") days.set(times, [...(days.get(times) ?? []), day]);
  }
  return [...days].map(([times, on]) => ({ days: on, times: times.split(",") }));
}

export function isSameWeek(one: Week, other: Week): boolean {
  return DAYS.every(({ day }) => timesOf(one, day).join() === timesOf(other, day).join());
}

/** What stands beside a time when it is taken away: the next of its day, else the one before, else none. */
export function neighbourOf(week: Week, day: Weekday, time: string): string | null {
  const times = timesOf(week, day);
  const at = times.indexOf(time);
  return times[at + 1] ?? times[at - 1] ?? null;
}

const TIME = /^(\d{1,2})(?:[:.](\d{2}))?$/;

/** Times as people write them: `9, 17:30`. Null where one of them is none. */
export function readTimes(text: string): readonly string[] | null {
  const words = text.split(/[\s,;]+/).filter((word) => word !== "");
  const times = words.map((word) => {
    const [, hour = "", minute = "00"] = TIME.exec(word) ?? [];
    return hour !== "" && Number(hour) < 24 && Number(minute) < 60
      ? `${hour.padStart(2, "0")}:${minute}`
      : null;
  });
  const whole = times.filter((time) => time !== null);
  return words.length === 0 || whole.length < words.length ? null : whole;
}

const WORKDAYS = ["mon", "tue", "wed", "thu", "fri"] as const;

/** Weeks to begin with. Their times are told behind `days`. */
export const PRESETS: readonly { readonly days: string; readonly slots: Slots }[] = [
  { days: "Weekdays", slots: [{ days: [...WORKDAYS], times: ["09:00", "17:00"] }] },
  { days: "Every day", slots: [{ days: DAYS.map(({ day }) => day), times: ["12:00"] }] },
  { days: "Tuesday and Thursday", slots: [{ days: ["tue", "thu"], times: ["10:00"] }] },
];
