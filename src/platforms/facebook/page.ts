import * as z from "zod";
import { DAY, toIso } from "../../domain/time.ts";
import type { AnalyticsDay, Inspection, Platform } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo, type PlatformResponse } from "../../ports/platform-io.ts";
import { askPage, graphBase, pageOf } from "./graph.ts";
import { readInsights } from "./live.ts";

const Page = z.looseObject({
  name: z.string().optional(),
  username: z.string().optional(),
  followers_count: z.int().min(0).optional(),
  is_published: z.boolean().optional(),
  picture: z
    .looseObject({ data: z.looseObject({ url: z.url() }) })
    .optional()
    .catch(undefined),
});

/** Who the Page is now, and whether something is in the way of posting. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const query = { fields: "name,username,is_published,picture{url}" };
  const page = await askPage(io, { method: "GET", path: pageOf(io), query }, Page);
  const hidden =
    page.is_published === false
      ? "The Page is not published, so people cannot see its posts. Publish it on Facebook."
      : null;
  return {
    ...(page.name === undefined ? {} : { name: page.name }),
    ...(page.username === undefined ? {} : { handle: page.username }),
    ...(page.picture === undefined ? {} : { avatarUrl: page.picture.data.url }),
    problem: hidden ?? (await readDataAccess(io)),
  };
}

/** It is asked with the app's own token, whose refusal says nothing of the Page's. */
function undescribed({ status }: PlatformResponse): PlatformFault | null {
  return status < 400 ? null : new PlatformFault("rejected", "Facebook did not describe the token.");
}

const Debug = z.looseObject({ data: z.looseObject({ data_access_expires_at: z.number().optional() }) });

/**
 * A Page's token has no end, but 90 days after the person was on Facebook's page last, an app sees and does
 * nothing more with it. Null while that is not so, or cannot be asked.
 */
async function readDataAccess(io: PlatformIo): Promise<string | null> {
  const app = `${io.setting("CLIENT_ID") ?? ""}|${io.setting("CLIENT_SECRET") ?? ""}`;
  try {
    const { data } = await io.ask(
      {
        method: "GET",
        url: `${graphBase(io)}/debug_token`,
        query: { access_token: app },
        sign: ({ pageToken }) => ({ query: { input_token: pageToken } }),
        classify: undescribed,
      },
      Debug,
    );
    const endsAt = (data.data_access_expires_at ?? 0) * 1_000;
    if (endsAt === 0 || endsAt > io.now()) return null;
    return `Facebook's permission for the Page's data ended on ${toIso(endsAt)}. Reconnect the Page.`;
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "a token was not described");
    return null;
  }
}

export const PAGE_METRICS = ["followers", "views", "reach", "engagements"] as const;

/** What Pages are counted by since the impressions were taken away (June 2026). */
const DAILY = {
  page_media_view: "views",
  page_total_media_view_unique: "reach",
  page_post_engagements: "engagements",
} as const satisfies Readonly<Record<string, (typeof PAGE_METRICS)[number]>>;

/** So much one request covers. */
const MAX_DAYS = 90;

type Range = Parameters<NonNullable<Platform["analytics"]>>[0];

/** Followers as they are now, and what Facebook counts by the day (its days begin at midnight in California). */
export const analytics: NonNullable<Platform["analytics"]> = async (range, io) => {
  const query = { fields: "followers_count" };
  const page = await askPage(io, { method: "GET", path: pageOf(io), query }, Page);
  const days = new Map<string, Record<string, number>>();
  for (const { since, until } of spansOf(range)) {
    const asked = { period: "day", since: since / 1_000, until: until / 1_000 };
    const read = await readInsights(io, { path: pageOf(io), metrics: Object.keys(DAILY), query: asked });
    for (const [name, ours] of Object.entries(DAILY))
      for (const { value, end_time: end } of read.get(name) ?? []) {
        // A value is that of the day which ends then.
        const date = end === undefined ? "" : toIso(Date.parse(end) - DAY).slice(0, 10);
        if (date >= range.from && date <= range.to) days.set(date, { ...days.get(date), [ours]: value });
      }
  }
  const series: AnalyticsDay[] = [...days].sort().map(([date, metrics]) => ({ date, metrics }));
  const sumOf = (name: string): Record<string, number> => {
    const values = series.flatMap(({ metrics }) => metrics[name] ?? []);
    return values.length === 0 ? {} : { [name]: values.reduce((sum, value) => sum + value, 0) };
  };
  return {
    totals: {
      ...(page.followers_count === undefined ? {} : { followers: page.followers_count }),
      ...sumOf("views"),
      ...sumOf("engagements"),
    },
    days: series,
    unavailable: [
      {
        metric: "reach",
        reason: "Facebook counts people by day. People who came on two days would count twice.",
      },
    ],
  };
};

/** Facebook's days end up to ten hours after ours. */
function spansOf({ from, to }: Range): { since: number; until: number }[] {
  const end = Date.parse(to) + 2 * DAY;
  const spans: { since: number; until: number }[] = [];
  for (let since = Date.parse(from); since < end; since += MAX_DAYS * DAY)
    spans.push({ since, until: Math.min(since + MAX_DAYS * DAY, end) });
  return spans;
}
