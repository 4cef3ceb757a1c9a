import { seriesDays } from "../../../../src/domain/drafts/series-days.ts";
import type { Series } from "../../../../src/domain/drafts/repeat.ts";
import type { Draft } from "../../../shared/drafts.ts";
import { createZone } from "../../../shared/zone.ts";

type When = (ms: number) => string;

const MINUTE = 60_000;

export function countOf(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${one}s`;
}

/** What an approval brings about, said before it. */
export function tellApproval(draft: Draft, when: When): string {
  const { repeat, targets, isNextSlot } = draft;
  const posts = countOf(targets.length, "post");
  if (repeat !== null)
    return `Starts the series${targets.length === 1 ? "" : `, on ${targets.length} channels each time`}.`;
  const times = targets.flatMap(({ scheduledAt }) => scheduledAt ?? []);
  const others = targets.length - times.length;
  const first = times.length === 0 ? "" : when(Math.min(...times));
  if (times.length === 0)
    return isNextSlot ? `Schedules ${posts}, ${slotWords(targets.length)}.` : `Publishes ${posts} at once.`;
  if (others > 0)
    return isNextSlot
      ? `Schedules ${posts}, ${others} of them ${slotWords(others)}. The other times begin on ${first}.`
      : `Publishes ${countOf(others, "post")} at once and schedules ${times.length}, the first on ${first}.`;
  if (times.length === 1) return `Schedules 1 post on ${first}.`;
  return new Set(times).size === 1
    ? `Schedules ${posts}, all on ${first}.`
    : `Schedules ${posts}, the first on ${first}.`;
}

function slotWords(count: number): string {
  return count === 1 ? "in the next free slot of its channel" : "each in the next free slot of its channel";
}

/** When, in a few words, for lists. */
export function tellTimeShortly(draft: Draft, when: When): string {
  if (draft.repeat !== null) return "Series";
  const times = draft.targets.flatMap(({ scheduledAt }) => scheduledAt ?? []);
  const at = draft.scheduledAt ?? (times.length === 0 ? null : Math.min(...times));
  if (at !== null) return when(at);
  return draft.isNextSlot ? "Next free slot" : "At once";
}

/** Whether a yes makes something public that no one can take back in the plan. */
export function goesOutAtOnce({ repeat, targets, isNextSlot }: Draft, now: number): boolean {
  if (repeat !== null) return false;
  return targets.some(({ scheduledAt }) =>
    scheduledAt === null ? !isNextSlot : scheduledAt <= now + MINUTE,
  );
}

/** What was brought about. `times` are those of its posts. */
export function tellApproved(isSeries: boolean, times: readonly number[], now: number, when: When): string {
  const posts = countOf(times.length, "post");
  const are = times.length === 1 ? "is" : "are";
  const first = Math.min(...times);
  if (times.length === 0) return "It is approved.";
  if (isSeries) return `The series runs: ${posts} ${are} planned, the first on ${when(first)}.`;
  if (times.every((at) => at <= now + MINUTE))
    return `${posts} ${times.length === 1 ? "goes" : "go"} out now.`;
  return times.length === 1
    ? `1 post is scheduled on ${when(first)}.`
    : `${posts} are scheduled, the first on ${when(first)}.`;
}

/** The days that a series comes to next, by the calendar of its zone. */
export function nextDays(series: Series, now: number, count: number): readonly string[] {
  const { day, minutes } = createZone(series.timezone).read(now);
  const [hour = 0, minute = 0] = series.time.split(":").map(Number);
  const isOverToday = hour * 60 + minute <= minutes;
  const days: string[] = [];
  let number = 0;
  for (const one of seriesDays(series)) {
    if (number >= (series.times ?? Infinity) || (series.until !== undefined && one > series.until)) break;
    number += 1;
    if (one < day || (one === day && isOverToday)) continue;
    days.push(one);
    if (days.length === count) break;
  }
  return days;
}

/** A local date and time as a field gives it, `2026-11-26T09:30`; null for anything else. */
export function readLocalTime(text: string): { readonly day: string; readonly minutes: number } | null {
  const [, day = "", hours = "", minutes = ""] = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})/.exec(text) ?? [];
  return day === "" ? null : { day, minutes: Number(hours) * 60 + Number(minutes) };
}
