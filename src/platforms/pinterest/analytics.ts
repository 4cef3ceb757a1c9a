import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { AnalyticsDay, PlatformAnalytics } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { call } from "./api.ts";
import { Account } from "./connect.ts";
import { dateOf, MAX_DAYS_BACK } from "./live.ts";

export const ACCOUNT_METRICS = ["followers", "impressions", "saves", "clicks"] as const;

/** Pinterest's names of them. */
const NAMES = { impressions: "IMPRESSION", saves: "SAVE", clicks: "OUTBOUND_CLICK" } as const;

const Numbers = z.record(z.string(), z.number()).optional();
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
