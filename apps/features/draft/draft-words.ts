import { seriesDays } from "../../../src/domain/drafts/series-days.ts";
import type { Series } from "../../../src/domain/drafts/repeat.ts";
import type { Draft } from "../../shared/drafts.ts";
import { countOf } from "../../shared/texts.ts";
import { lastDayBy } from "../../shared/zone.ts";

type TimeFormat = (ms: number) => string;

const MINUTE = 60_000;

/** What an approval will do. */
export function approvalInWords(draft: Draft, when: TimeFormat): string {
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
export function timeInShort(draft: Draft, when: TimeFormat): string {
  if (draft.repeat !== null) return "Series";
  const times = draft.targets.flatMap(({ scheduledAt }) => scheduledAt ?? []);
  const at = draft.scheduledAt ?? (times.length === 0 ? null : Math.min(...times));
  if (at !== null) return when(at);
  return draft.isNextSlot ? "Next free slot" : "At once";
}

/** Whether an approval publishes something at once. */
export function goesOutAtOnce({ repeat, targets, isNextSlot }: Draft, now: number): boolean {
  if (repeat !== null) return false;
  return targets.some(({ scheduledAt }) =>
    scheduledAt === null ? !isNextSlot : scheduledAt <= now + MINUTE,
  );
}

/** What an approval led to. `times`: of the posts it made. */
export function approvalResult(
  isSeries: boolean,
  times: readonly number[],
  now: number,
  when: TimeFormat,
): string {
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

/** The next days of a series, in its time zone. `begun`: when it was approved. Default: now. */
export function nextDays(series: Series, now: number, count: number, begun = now): readonly string[] {
  const lastBefore = lastDayBy(series, begun);
  const lastOver = lastDayBy(series, now);
  const days: string[] = [];
  let number = 0;
  for (const one of seriesDays(series)) {
    if (number >= (series.times ?? Infinity) || (series.until !== undefined && one > series.until)) break;
    if (one <= lastBefore) continue;
    number += 1;
    if (one <= lastOver) continue;
    days.push(one);
    if (days.length === count) break;
  }
  return days;
}
