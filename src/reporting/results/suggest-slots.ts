import { plural } from "../../domain/text/plain-text.ts";
import {
  type AccountChange,
  readPlan,
  type ScheduleInput,
  type SlotSuggestion,
  WEEKDAYS,
} from "../../domain/accounts/schedule.ts";
import { AppError } from "../../domain/errors.ts";
import { AGES, FEW_POSTS, METRICS, type Metric } from "../../domain/posts/results.ts";
import { DAY } from "../../domain/time.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import { readPacked } from "../../store/queries/results/reading.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { findAccount, showAccount } from "../../channels/accounts/accounts.ts";
import { updateAccount } from "../../posts/update-account.ts";
import { Clocks, medianOf, readEach } from "./figures.ts";
import { zoneOf } from "./report.ts";

/** Older posts tell of another audience. */
const LOOK_BACK_MS = 180 * DAY;
/** An hour of the week with fewer posts is not proposed. */
const FEW_IN_HOUR = 3;
/** Where the channel has no slots yet. */
const USUAL_SLOTS = 5;
const WEEK_MINUTES = 7 * 24 * 60;

type AccountChangeResult = Awaited<ReturnType<typeof updateAccount>> & {
  readonly suggestion?: SlotSuggestion;
};

/** As `updateAccount`, and with `suggest`, on a dry run alone, slots out of the channel's own figures. */
export async function changeAccount(call: CallContext, input: AccountChange): Promise<AccountChangeResult> {
  const { suggest, ...change } = input;
  if (suggest !== true) return updateAccount(call, change);
  const { ctx, caller } = call;
  if (input.dryRun !== true)
    throw new AppError(
      "invalid",
      "suggest: only proposes, so it needs dryRun. Then call it again with the schedule that it answered.",
    );
  if (input.schedule !== undefined)
    throw new AppError("invalid", "schedule: is what suggest answers. Leave out one of the two.");
  const account = await findAccount(ctx, caller, change.accountId);
  const suggestion = await suggestSlots(ctx, account);
  if (suggestion.schedule !== null)
    return { ...(await updateAccount(call, { ...change, schedule: suggestion.schedule })), suggestion };
  return { account: await showAccount(ctx, ctx.store, account), moved: [], dryRun: true, suggestion };
}

interface Hour {
  /** Minutes since the week began at which these posts usually went live. */
  readonly minute: number;
  readonly posts: number;
  readonly median: number;
}

async function suggestSlots(ctx: AppContext, account: AccountRow): Promise<SlotSuggestion> {
  const timezone = zoneOf(ctx, account);
  const now = ctx.clock.now();
  const scope = { ownerId: account.owner_id, accountIds: [account.id], label: null, age: AGES[1].column };
  const packed = await readPacked(ctx.store, { ...scope, from: now - LOOK_BACK_MS, to: now }, { ids: false });
  const text = packed[0]?.packed ?? "";
  const { metric, sampled } = mostCommon(text);
  const hours = hoursOf(text, METRICS.indexOf(metric), timezone);
  const usual = medianOf(hours.flatMap(({ values }) => values));
  const told = hours.map(({ minutes, values }) => ({
    minute: Math.floor((medianOf(minutes) ?? 0) / 15) * 15,
    posts: values.length,
    median: medianOf(values) ?? 0,
  }));
  const plan = account.schedule === null ? null : readPlan(account.schedule);
  const minGapMinutes = plan?.minGapMinutes ?? 0;
  const wanted =
    plan === null
      ? USUAL_SLOTS
      : plan.slots.reduce((sum, { days, times }) => sum + days.length * times.length, 0);
  const good = told.filter(
    ({ posts, median }) => posts >= FEW_IN_HOUR && median >= (usual ?? 0) && median > 0,
  );
  const chosen = sampled < FEW_POSTS ? [] : choose(good, wanted, minGapMinutes);
  const base = { metric, posts: sampled, usual };
  if (chosen.length === 0)
    return { ...base, schedule: null, evidence: [], reason: tooLittle(sampled, metric) };
  const inOrder = chosen.toSorted((a, b) => a.minute - b.minute);
  return {
    ...base,
    schedule: { timezone, slots: slotsOf(inOrder), minGapMinutes },
    evidence: inOrder.map((hour) => ({ ...wallTimeOf(hour), posts: hour.posts, median: hour.median })),
    reason: null,
  };
}

function tooLittle(sampled: number, metric: Metric): string {
  return sampled < FEW_POSTS
    ? `Too few to propose anything: ${plural(sampled, "post", "posts")} of the last 180 days ${sampled === 1 ? "has" : "have"} ${metric} after 24 hours, and it takes ${FEW_POSTS}.`
    : `No hour of the week stands out: none has ${FEW_IN_HOUR} posts that did as well as usual.`;
}

/** What most of the posts have. */
function mostCommon(packed: string): { metric: Metric; sampled: number } {
  const counts = METRICS.map(() => 0);
  readEach(packed, ({ values }) => {
    for (const [at, value] of values.entries()) if (value >= 0) counts[at] = (counts[at] ?? 0) + 1;
  });
  const sampled = Math.max(...counts);
  return { metric: METRICS[counts.indexOf(sampled)] ?? "views", sampled };
}

interface HourSample {
  readonly minutes: number[];
  readonly values: number[];
}

/** Posts with the metric by the hour of the week at which they went live. */
function hoursOf(packed: string, place: number, timezone: string): HourSample[] {
  const clocks = new Clocks();
  const hours = new Map<number, HourSample>();
  readEach(packed, ({ at, values }) => {
    const value = values[place] ?? -1;
    if (value < 0) return;
    const { weekday, minutes } = clocks.read(at, timezone);
    const minute = weekday * 24 * 60 + minutes;
    const hour = Math.floor(minute / 60);
    const known = hours.get(hour) ?? { minutes: [], values: [] };
    hours.set(hour, known);
    known.minutes.push(minute);
    known.values.push(value);
  });
  return [...hours.values()];
}

/** The best of them that keep the gap to each other, also from the week's end to its beginning. */
function choose(hours: readonly Hour[], count: number, minGapMinutes: number): Hour[] {
  const gap = Math.max(minGapMinutes, 1);
  const chosen: Hour[] = [];
  const best = hours.toSorted((a, b) => b.median - a.median || b.posts - a.posts || a.minute - b.minute);
  for (const hour of best) {
    if (chosen.length >= count) break;
    const isFree = chosen.every(({ minute }) => {
      const apart = Math.abs(minute - hour.minute) % WEEK_MINUTES;
      return Math.min(apart, WEEK_MINUTES - apart) >= gap;
    });
    if (isFree) chosen.push(hour);
  }
  return chosen;
}

function wallTimeOf({ minute }: Hour): { day: (typeof WEEKDAYS)[number]; time: string } {
  const clock = minute % (24 * 60);
  const [hours, minutes] = [Math.floor(clock / 60), clock % 60];
  const time = `${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
  return { day: WEEKDAYS[Math.floor(minute / (24 * 60)) % 7] ?? "mon", time };
}

/** Days with the same times are one entry. */
function slotsOf(hours: readonly Hour[]): ScheduleInput["slots"] {
  const byDay = new Map<(typeof WEEKDAYS)[number], string[]>();
  for (const hour of hours) {
    const { day, time } = wallTimeOf(hour);
    byDay.set(day, [...(byDay.get(day) ?? []), time]);
  }
  const byTimes = new Map<string, ScheduleInput["slots"][number]>();
  for (const [day, times] of byDay) {
    const known = byTimes.get(times.join());
    if (known === undefined) byTimes.set(times.join(), { days: [day], times });
    else known.days.push(day);
  }
  return [...byTimes.values()];
}
