import * as z from "zod";
import type { Metrics } from "../../domain/posts/post.ts";
import { DAY } from "../../domain/time.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { AnalyticsDay, Inspection, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { FaultRule } from "../shared/faults.ts";
import { idReader } from "../shared/live.ts";
import { Account, AnyAnswer, call, callOrGone, nameOf } from "./api.ts";
import { boardOf } from "./boards.ts";
import type { PinterestPost } from "./metadata.ts";
import { textsOf } from "./publish.ts";

const idOf = idReader("is not the number of a pin, so it cannot be found there.", /^\d+$/);
const pathOf = (post: PinterestPost): string => `/pins/${idOf(post)}`;

const NO_EDITING: FaultRule = {
  status: 403,
  kind: "rejected",
  message:
    "Pinterest lets only some apps change pins (a beta), and the pin must be the channel's own. Change it on Pinterest itself.",
};

const PLACE: readonly string[] = ["boardId", "board", "boardSection"];

/** A pin stays where a person may have moved it, unless it is to move. */
export async function edit(post: PinterestPost, changed: readonly string[], io: PlatformIo): Promise<object> {
  const { boardSection = null } = post.metadata;
  const place = changed.some((field) => PLACE.includes(field))
    ? { board_id: await boardOf(post, io), board_section_id: boardSection }
    : {};
  const json = { ...textsOf(post), ...place };
  const asked = { path: pathOf(post), json, isIdempotent: true, rules: [NO_EDITING] };
  await call(io, { method: "PATCH", ...asked }, AnyAnswer);
  return {};
}

/** What is gone already is no error. */
export async function remove(post: PinterestPost, io: PlatformIo): Promise<void> {
  await callOrGone(io, { method: "DELETE", path: pathOf(post), isIdempotent: true }, AnyAnswer);
}

const Count = z.number().min(0).optional().catch(undefined);
const Lifetime = z.looseObject({
  impression: Count,
  clickthrough: Count,
  save: Count,
  reaction: Count,
  comment: Count,
});
const Pin = z.looseObject({
  created_at: z.string().nullish(),
  pin_metrics: z.looseObject({ lifetime_metrics: Lifetime.optional() }).nullish().catch(null),
});

/** Counts over the pin's life, as far as Pinterest has them; else those of its first 90 days. */
export async function insights(post: PinterestPost, io: PlatformIo): Promise<PostInsights> {
  const path = pathOf(post);
  const pin = await callOrGone(io, { path, query: { pin_metrics: true } }, Pin);
  if (pin === null) return { state: "removed", visibility: null, metrics: {} };
  const told = pin.pin_metrics?.lifetime_metrics;
  const metrics =
    told?.impression === undefined
      ? await analyticsOf(path, Date.parse(pin.created_at ?? ""), io)
      : {
          impressions: told.impression,
          clicks: told.clickthrough ?? null,
          saves: told.save ?? null,
          likes: told.reaction ?? null,
          comments: told.comment ?? null,
        };
  return { state: "live", visibility: "public", metrics };
}

const Numbers = z.record(z.string(), z.number()).optional();
const PinAnalytics = z.looseObject({
  all: z.looseObject({ summary_metrics: Numbers, lifetime_metrics: Numbers }).optional(),
});

/** How far back Pinterest looks. */
const MAX_DAYS_BACK = 89;

async function analyticsOf(path: string, madeAt: number, io: PlatformIo): Promise<Partial<Metrics>> {
  const earliest = io.now() - MAX_DAYS_BACK * DAY;
  if (Number.isNaN(madeAt) || madeAt < earliest) return {};
  const query = {
    start_date: dateOf(madeAt),
    end_date: dateOf(io.now()),
    metric_types: "IMPRESSION,OUTBOUND_CLICK,SAVE,TOTAL_COMMENTS,TOTAL_REACTIONS",
  };
  try {
    const { all } = await call(io, { path: `${path}/analytics`, query }, PinAnalytics);
    const { summary_metrics: sums = {}, lifetime_metrics: totals = {} } = all ?? {};
    return {
      impressions: sums["IMPRESSION"] ?? null,
      clicks: sums["OUTBOUND_CLICK"] ?? null,
      saves: sums["SAVE"] ?? null,
      likes: totals["TOTAL_REACTIONS"] ?? null,
      comments: totals["TOTAL_COMMENTS"] ?? null,
    };
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "Pinterest did not give the counts of a pin");
    return {};
  }
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export async function inspect(io: PlatformIo): Promise<Inspection> {
  const account = await call(io, { path: "/user_account" }, Account);
  return {
    name: nameOf(account),
    handle: account.username,
    avatarUrl: account.profile_image ?? null,
    problem: null,
  };
}

export const ACCOUNT_METRICS = ["followers", "impressions", "saves", "clicks"] as const;

/** Pinterest's names of them. */
const NAMES = { impressions: "IMPRESSION", saves: "SAVE", clicks: "OUTBOUND_CLICK" } as const;

const Answer = z.looseObject({
  all: z
    .looseObject({
      summary_metrics: Numbers,
      daily_metrics: z
        .array(z.looseObject({ date: z.string(), data_status: z.string().optional(), metrics: Numbers }))
        .optional(),
    })
    .optional(),
});

/** Followers as they are now; the rest by day, 90 days back at most. */
export async function analytics(
  { from, to }: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const account = await call(io, { path: "/user_account" }, Account);
  const followers = account.follower_count ?? null;
  const totals = followers === null ? {} : { followers };
  const earliest = dateOf(io.now() - MAX_DAYS_BACK * DAY);
  const today = dateOf(io.now());
  const start = from < earliest ? earliest : from;
  const end = to > today ? today : to;
  if (end < start)
    return { totals, days: [], unavailable: without("Pinterest gives only the last 90 days.") };
  const query = { start_date: start, end_date: end, metric_types: Object.values(NAMES).join(",") };
  try {
    const { all } = await call(io, { path: "/user_account/analytics", query }, Answer);
    const days = (all?.daily_metrics ?? [])
      .filter(({ data_status: status }) => status === undefined || status === "READY")
      .map(({ date, metrics }): AnalyticsDay => ({ date, metrics: named(metrics ?? {}) }));
    return { totals: { ...totals, ...named(all?.summary_metrics ?? {}) }, days, unavailable: [] };
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "Pinterest did not give the channel's numbers");
    const why = "Pinterest did not give the numbers. It may ask for a business account. Try again later.";
    return { totals, days: [], unavailable: without(why) };
  }
}

function without(reason: string): { metric: string; reason: string }[] {
  return Object.keys(NAMES).map((metric) => ({ metric, reason }));
}

function named(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const pairs = Object.entries(NAMES).flatMap(([name, theirs]): [string, number][] => {
    const value = metrics[theirs];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs);
}
