/** A day of the calendar as `YYYY-MM-DD`, without a zone; such texts sort as their days do. */
export type Day = string;

/** A moment as the clock on a wall shows it. */
export interface WallTime {
  readonly day: Day;
  /** Since midnight. */
  readonly minutes: number;
}

/** Days and minutes of one time zone; luxon would take most of what the page may weigh. */
export interface Zone {
  readonly name: string;
  /** The wall time of a moment. */
  read(ms: number): WallTime;
  /**
   * The moment of a wall time. One that a clock change leaves out is moved on by the hour left out; of two,
   * it is the first.
   */
  toMs(time: WallTime): number;
}

const MINUTE = 60_000;

/** Size of the cache of wall times: a month with a thousand posts asks for the same ones at each drawing. */
const MOST_KEPT = 5_000;

const DAY_MINUTES = 24 * 60;

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return name !== "";
  } catch {
    return false;
  }
}

export function createZone(name: string): Zone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    calendar: "iso8601",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  const kept = new Map<number, number>();
  const wallClock = (ms: number): number => {
    const known = kept.get(ms);
    if (known !== undefined) return known;
    if (kept.size >= MOST_KEPT) kept.clear();
    const wall = readClock(ms);
    kept.set(ms, wall);
    return wall;
  };
  const readClock = (ms: number): number => {
    const parts = new Map(format.formatToParts(ms).map((part) => [part.type, Number(part.value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    return Date.UTC(
      part("year"),
      part("month") - 1,
      part("day"),
      part("hour"),
      part("minute"),
      part("second"),
    );
  };
  const offsetAt = (ms: number): number => wallClock(ms) - Math.floor(ms / 1000) * 1000;
  return {
    name,
    read(ms) {
      const wall = new Date(wallClock(ms));
      return {
        day: wall.toISOString().slice(0, 10),
        minutes: wall.getUTCHours() * 60 + wall.getUTCMinutes(),
      };
    },
    toMs({ day, minutes }) {
      const wall = Date.parse(`${day}T00:00:00Z`) + minutes * MINUTE;
      // The offsets a day before and after are those on both sides of a clock change.
      const before = wall - offsetAt(wall - DAY_MINUTES * MINUTE);
      const after = wall - offsetAt(wall + DAY_MINUTES * MINUTE);
      return wallClock(before) === wall || wallClock(after) !== wall ? before : after;
    },
  };
}

/** The last day on which this time of the clock there has passed at that moment. */
export function lastDayBy(
  { timezone, time }: { readonly timezone: string; readonly time: string },
  ms: number,
): Day {
  const { day, minutes } = createZone(timezone).read(ms);
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  return hour * 60 + minute <= minutes ? day : addDays(day, -1);
}

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MINUTES * MINUTE).toISOString().slice(0, 10);
}

/** The same day of another month, or that month's last. */
export function addMonths(day: Day, months: number): Day {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const last = new Date(Date.UTC(year, month + months, 0));
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(date, last.getUTCDate())))
    .toISOString()
    .slice(0, 10);
}

export function monthOf(day: Day): string {
  return day.slice(0, 7);
}

/** 1 for Monday to 7 for Sunday, as `Intl.Locale` counts. */
function weekdayOf(day: Day): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay() || 7;
}

export function startOfWeek(day: Day, firstWeekday: number): Day {
  return addDays(day, -((weekdayOf(day) - firstWeekday + 7) % 7));
}

/** Whole weeks around the month, or the one week. */
export function daysShown(view: "month" | "week", day: Day, firstWeekday: number): readonly Day[] {
  const first = startOfWeek(view === "week" ? day : `${monthOf(day)}-01`, firstWeekday);
  const next = `${monthOf(addMonths(day, 1))}-01`;
  const days: Day[] = [];
  for (
    let at = first;
    days.length < 7 || (view === "month" && (at < next || days.length % 7 !== 0));
    at = addDays(at, 1)
  )
    days.push(at);
  return days;
}
