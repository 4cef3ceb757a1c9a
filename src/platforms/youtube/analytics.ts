import * as z from "zod";
import type { AnalyticsDay, PlatformAnalytics } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";
import { googleFaults } from "../shared/google.ts";
import { analyticsBaseOf } from "./api.ts";
import { findChannel } from "./channel.ts";

/** https://developers.google.com/youtube/analytics/metrics; what of them adds up over days. */
const SUMS = [
  "views",
  "likes",
  "comments",
  "shares",
  "estimatedMinutesWatched",
  "subscribersGained",
  "subscribersLost",
] as const;
/** Of the whole time they are asked for by themselves. */
const MEANS = ["averageViewDuration", "averageViewPercentage"] as const;

const METRICS = [...SUMS, ...MEANS];

export const ACCOUNT_METRICS = ["followers", ...METRICS];

const Report = z.looseObject({
  columnHeaders: z.array(z.looseObject({ name: z.string() })),
  // Left out where there are no numbers.
  rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))).default([]),
});

/** By day and in total. YouTube's numbers are some two days behind. */
export async function analytics(
  range: { readonly from: string; readonly to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const [total] = await readReport(io, range, {});
  const byDay = await readReport(io, range, { dimensions: "day", sort: "day" });
  const channel = await findChannel(io);
  const followers = channel?.followers ?? null;
  const days = byDay.map(({ texts, numbers }): AnalyticsDay => ({
    date: texts["day"] ?? "",
    metrics: numbers,
  }));
  return {
    totals: { ...total?.numbers, ...(followers === null ? {} : { followers }) },
    days: days.filter(({ date }) => date !== ""),
    unavailable: [
      ...(followers === null
        ? [{ metric: "followers", reason: "The channel hides how many there are." }]
        : []),
      ...METRICS.filter((metric) => total?.numbers[metric] === undefined).map((metric) => {
        return {
          metric,
          reason: "YouTube has no numbers for these days (yet). They come some two days later.",
        };
      }),
    ],
  };
}

const Texts = z.record(z.string(), z.string());
const Numbers = z.record(z.string(), z.number());

interface Row {
  readonly texts: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, number>>;
}

async function readReport(
  io: PlatformIo,
  { from, to }: { readonly from: string; readonly to: string },
  grouping: { readonly dimensions?: string; readonly sort?: string },
): Promise<Row[]> {
  const { columnHeaders, rows } = await io.ask(
    {
      method: "GET",
      url: `${analyticsBaseOf(io)}/v2/reports`,
      query: { ids: "channel==MINE", startDate: from, endDate: to, metrics: METRICS.join(","), ...grouping },
      sign: bearer(),
      classify: googleFaults({ title: "YouTube", api: "YouTube Analytics API", rules: [] }, io),
    },
    Report,
  );
  return rows.map((row) => {
    const cells = columnHeaders.map(({ name }, at) => [name, row[at]] as const);
    return {
      texts: Texts.parse(Object.fromEntries(cells.filter(([, value]) => typeof value === "string"))),
      numbers: Numbers.parse(Object.fromEntries(cells.filter(([, value]) => typeof value === "number"))),
    };
  });
}
