import * as z from "zod";
import type { Insights } from "../../domain/posts/post.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PlatformAnalytics } from "../../ports/platform.ts";
import { askAs, askOrGone, placeOf, POST_NAME } from "./api.ts";
import { type BusinessPost, fieldsOf, partsOf } from "./metadata.ts";
import { readPost } from "./publish.ts";
import { byStatus } from "../shared/faults.ts";
import { idReader } from "../shared/live.ts";

const AnyAnswer = z.unknown();

const pathOf = idReader("is not the name of a post, so it cannot be found on Google.", POST_NAME);

/** What is named and not given any more is taken away. */
export async function edit(post: BusinessPost, changed: readonly string[], io: PlatformIo): Promise<object> {
  const masks = partsOf(changed);
  const fields = fieldsOf(post, io.account.settings["languageCode"]);
  const json = Object.fromEntries(Object.entries(fields).filter(([name]) => masks.includes(name)));
  const rules = byStatus("rejected", { 404: "The post is no longer on Google, so it cannot be changed." });
  const call = { path: `v4/${pathOf(post)}`, query: { updateMask: masks.join(",") }, json, rules };
  await askAs(io, { ...call, method: "PATCH", isIdempotent: true }, AnyAnswer);
  return {};
}

/** What is gone already is no error. */
export async function remove(post: BusinessPost, io: PlatformIo): Promise<void> {
  const call = { method: "DELETE", path: `v4/${pathOf(post)}`, isIdempotent: true } as const;
  await askOrGone(io, call, AnyAnswer);
}

const STATES: Readonly<Record<string, Insights["state"]>> = {
  LIVE: "live",
  RECURRING: "live",
  SCHEDULED: "private",
  PROCESSING: "processing",
  REJECTED: "rejected",
};

/** Google tells no numbers of posts since February 2023. */
export async function insights(
  post: BusinessPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: object }> {
  const found = await readPost(io, pathOf(post));
  const state = found === null ? "removed" : (STATES[found.state] ?? "unknown");
  return { state, visibility: state === "live" ? "public" : null, metrics: {} };
}

/** Google's names of them; several are added up. */
const METRICS: Readonly<Record<string, string>> = {
  BUSINESS_IMPRESSIONS_DESKTOP_MAPS: "impressions",
  BUSINESS_IMPRESSIONS_DESKTOP_SEARCH: "impressions",
  BUSINESS_IMPRESSIONS_MOBILE_MAPS: "impressions",
  BUSINESS_IMPRESSIONS_MOBILE_SEARCH: "impressions",
  WEBSITE_CLICKS: "clicks",
  CALL_CLICKS: "calls",
  BUSINESS_DIRECTION_REQUESTS: "directions",
  BUSINESS_CONVERSATIONS: "conversations",
  BUSINESS_BOOKINGS: "bookings",
};

export const ACCOUNT_METRICS = [...new Set(Object.values(METRICS))];

const Day = z.looseObject({ year: z.int(), month: z.int(), day: z.int() });
// Left out where it is 0.
const Value = z.looseObject({ date: Day, value: z.coerce.number().default(0) });
const Series = z.looseObject({
  dailyMetric: z.string(),
  timeSeries: z.looseObject({ datedValues: z.array(Value).default([]) }).prefault({}),
});
const Answer = z.looseObject({
  multiDailyMetricTimeSeries: z
    .array(z.looseObject({ dailyMetricTimeSeries: z.array(Series).default([]) }))
    .default([]),
});

/** Of the whole location, by day; the last days come late. */
export async function analytics(
  { from, to }: { readonly from: string; readonly to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const path = `v1/${placeOf(io).location}:fetchMultiDailyMetricsTimeSeries`;
  const dates = { ...dateOf("startDate", from), ...dateOf("endDate", to) };
  const query = { dailyMetrics: Object.keys(METRICS), ...dates };
  const { multiDailyMetricTimeSeries: all } = await askAs(io, { host: "ANALYTICS_URL", path, query }, Answer);
  const totals: Record<string, number> = {};
  const days = new Map<string, Record<string, number>>();
  for (const { dailyMetric, timeSeries } of all.flatMap((one) => one.dailyMetricTimeSeries)) {
    const name = METRICS[dailyMetric];
    if (name === undefined) continue;
    for (const { date, value } of timeSeries.datedValues) {
      const key = [date.year, date.month, date.day].map((part) => String(part).padStart(2, "0")).join("-");
      const metrics = days.get(key) ?? {};
      days.set(key, { ...metrics, [name]: (metrics[name] ?? 0) + value });
      totals[name] = (totals[name] ?? 0) + value;
    }
  }
  const missing = ACCOUNT_METRICS.filter((name) => totals[name] === undefined);
  return {
    totals,
    days: [...days].map(([date, metrics]) => ({ date, metrics })).sort((a, b) => (a.date < b.date ? -1 : 1)),
    unavailable: missing.map((metric) => {
      return { metric, reason: "Google has no numbers for these days (yet). They come some days later." };
    }),
  };
}

function dateOf(name: string, date: string): Record<string, number> {
  const [year = 0, month = 0, day = 0] = date.slice(0, 10).split("-").map(Number);
  const at = `dailyRange.${name}`;
  return { [`${at}.year`]: year, [`${at}.month`]: month, [`${at}.day`]: day };
}
