import { DAY } from "../../domain/time.ts";
import type { AnalyticsDay, PlatformAnalytics } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { own } from "./api.ts";
import { Account } from "./entities.ts";
import { listStatuses } from "./find.ts";
import { countOf } from "./live.ts";

const SUMMED = ["likes", "comments", "shares"] as const;

const NOT_OFFERED = ["views", "impressions", "reach", "saves", "clicks"].map((metric) => ({
  metric,
  reason: "Mastodon does not count this.",
}));

/** Followers as they are now, and the reactions so far to the posts of the range, by the day of the post. */
export async function analytics(
  { from, to }: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const account = await own(io, { method: "GET", path: "/api/v1/accounts/verify_credentials" }, Account);
  const days = new Map<string, Record<string, number>>();
  for await (const status of listStatuses(io, Date.parse(from) - DAY)) {
    const date = status.created_at.slice(0, 10);
    if (date < from || date > to) continue;
    const day = days.get(date) ?? { posts: 0, likes: 0, comments: 0, shares: 0 };
    const counts = countOf(status);
    day["posts"] = (day["posts"] ?? 0) + 1;
    for (const name of SUMMED) day[name] = (day[name] ?? 0) + (counts[name] ?? 0);
    days.set(date, day);
  }
  const sorted: AnalyticsDay[] = [...days]
    .map(([date, metrics]) => ({ date, metrics }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
  return {
    totals: {
      ...(account.followers_count === undefined ? {} : { followers: account.followers_count }),
      ...sumOf(sorted),
    },
    days: sorted,
    unavailable: NOT_OFFERED,
  };
}

function sumOf(days: readonly AnalyticsDay[]): Record<string, number> {
  const sums: Record<string, number> = { posts: 0, likes: 0, comments: 0, shares: 0 };
  for (const { metrics } of days)
    for (const [name, value] of Object.entries(metrics)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}
