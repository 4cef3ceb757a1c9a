import { addDays, type Day, type Zone } from "../../../shared/zone.ts";

/** What is counted: that a post went live on a channel, and when. */
export interface LivePost {
  readonly accountId: string;
  readonly at: number;
  /** What it adds to its day. Default: 1, the post itself. */
  readonly value?: number;
}

/** With fewer posts than this, what one compares is chance. */
export const FEW_POSTS = 20;

export interface DailyCounts {
  readonly days: readonly Day[];
  /** Of each channel, as many as there are days; those with most posts first. */
  readonly channels: readonly ChannelCounts[];
  /** Of all channels together. */
  readonly totals: readonly number[];
  /** How many posts that is. */
  readonly posts: number;
}

export interface ChannelCounts {
  readonly accountId: string;
  readonly counts: readonly number[];
  readonly posts: number;
}

/** Days up to and with today. */
export function lastDays(today: Day, count: number): readonly Day[] {
  return Array.from({ length: count }, (_, at) => addDays(today, at + 1 - count));
}

/** How many posts went live on each of the days, or what they have together. Others are left out. */
export function countByDay(posts: readonly LivePost[], days: readonly Day[], zone: Zone): DailyCounts {
  const positions = new Map(days.map((day, at) => [day, at]));
  const byChannel = new Map<string, { counts: number[]; posts: number }>();
  const totals = days.map(() => 0);
  for (const { accountId, at, value = 1 } of posts) {
    const position = positions.get(zone.read(at).day);
    if (position === undefined) continue;
    const channel = byChannel.get(accountId) ?? { counts: days.map(() => 0), posts: 0 };
    byChannel.set(accountId, channel);
    channel.counts[position] = (channel.counts[position] ?? 0) + value;
    channel.posts += 1;
    totals[position] = (totals[position] ?? 0) + value;
  }
  const channels = [...byChannel].map(([accountId, channel]) => ({ accountId, ...channel }));
  channels.sort((a, b) => b.posts - a.posts || (a.accountId < b.accountId ? -1 : 1));
  return { days, channels, totals, posts: channels.reduce((all, one) => all + one.posts, 0) };
}

export const HOURS = 24;
export const WEEKDAYS = 7;

export interface WeekHours {
  /** Seven rows from the first day of the week, each of 24 hours. */
  readonly rows: readonly (readonly number[])[];
  readonly most: number;
  readonly posts: number;
  /** The row and hour with most posts, where it is one alone. */
  readonly peak: { readonly row: number; readonly hour: number } | null;
}

/** Posts by the day of the week and the hour at which they went live. */
export function countByWeekHour(posts: readonly LivePost[], zone: Zone, firstWeekday: number): WeekHours {
  const rows = Array.from({ length: WEEKDAYS }, () => Array.from({ length: HOURS }, () => 0));
  for (const { at } of posts) {
    const { day, minutes } = zone.read(at);
    const row = rows[rowOf(day, firstWeekday)];
    const hour = Math.floor(minutes / 60);
    if (row !== undefined) row[hour] = (row[hour] ?? 0) + 1;
  }
  const cells = rows.flatMap((row, at) => row.map((count, hour) => ({ row: at, hour, count })));
  const most = Math.max(...cells.map(({ count }) => count));
  const [peak, second] = cells.filter(({ count }) => count > 0 && count === most);
  return {
    rows,
    most,
    posts: posts.length,
    peak: peak === undefined || second !== undefined ? null : { row: peak.row, hour: peak.hour },
  };
}

/** Any day of that row, for its name. */
export function dayOfRow(row: number, firstWeekday: number): Day {
  // A Monday.
  return addDays("2024-01-01", (firstWeekday - 1 + row) % WEEKDAYS);
}

function rowOf(day: Day, firstWeekday: number): number {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay() || WEEKDAYS;
  return (weekday - firstWeekday + WEEKDAYS) % WEEKDAYS;
}

/** 0 for none, then 1 to 4 by how near to the most. */
export function shadeOf(count: number, most: number): 0 | 1 | 2 | 3 | 4 {
  if (count === 0) return 0;
  const part = count / most;
  return part > 0.75 ? 4 : part > 0.5 ? 3 : part > 0.25 ? 2 : 1;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
