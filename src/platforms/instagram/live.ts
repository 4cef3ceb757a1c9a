import * as z from "zod";
import { DAY, SECOND } from "../../domain/time.ts";
import type { Metrics } from "../../domain/posts/post.ts";
import type { Inspection, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { MORE, needScope } from "../shared/consent.ts";
import { idReader } from "../shared/live.ts";
import { inspectAccount } from "../shared/meta/accounts.ts";
import { dayBefore, withoutPermission } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import { accountId, apiOf, ask, askOrGone, isOfPage, MILD, NOT_ALLOWED, sendOrGone } from "./api.ts";
import type { InstagramPost } from "./metadata.ts";

export function inspect(io: PlatformIo): Promise<Inspection> {
  const me = isOfPage(io) ? accountId(io) : "me";
  const limit = `${accountId(io)}/content_publishing_limit`;
  return inspectAccount(apiOf(io), { me, picture: "profile_picture_url", limit });
}

const Shown = z.looseObject({
  id: Id,
  media_product_type: z.string().optional(),
  like_count: z.number().optional(),
  comments_count: z.number().optional(),
});

/** One value for a whole life or a whole time. */
const Numbers = z.looseObject({
  data: z.array(
    z.looseObject({
      name: z.string(),
      values: z
        .array(z.looseObject({ value: z.number().catch(0), end_time: z.string().optional() }))
        .optional(),
      total_value: z.looseObject({ value: z.number().optional() }).optional(),
    }),
  ),
});

/** One that a kind of media has not makes the whole request fail. */
const POST_METRICS = "views,reach,likes,comments,shares,saved";
const STORY_METRICS = "views,reach,replies,shares";
/** Through a Page, taps on a story's links are counted too. */
const PAGE_STORY_METRICS = `${STORY_METRICS},link_clicks`;
const NAMES: Readonly<Record<string, keyof Metrics>> = {
  views: "views",
  reach: "reach",
  likes: "likes",
  comments: "comments",
  replies: "comments",
  shares: "shares",
  saved: "saves",
  link_clicks: "clicks",
};

const idOf = idReader("is not the id of an Instagram post, so it cannot be found there.", /^\d+$/);

/** A post that was deleted is told from one whose numbers are not shown. */
export async function insights(post: InstagramPost, io: PlatformIo): Promise<PostInsights> {
  const id = idOf(post);
  const query = { fields: "id,media_product_type,like_count,comments_count" };
  const shown = await askOrGone(io, { path: id, query }, Shown);
  if (shown === null) return { state: "removed", visibility: null, metrics: {} };
  const { like_count: likes, comments_count: comments, media_product_type: kind } = shown;
  const counted = {
    ...(likes === undefined ? {} : { likes }),
    ...(comments === undefined ? {} : { comments }),
  };
  const ofStory = isOfPage(io) ? PAGE_STORY_METRICS : STORY_METRICS;
  const metric = kind === "STORY" ? ofStory : POST_METRICS;
  return {
    state: "live",
    visibility: "public",
    metrics: { ...counted, ...(await readNumbers(io, id, metric)) },
  };
}

const MAY_DELETE = withoutPermission(
  `The channel was connected without the permission instagram_manage_contents. Add it to the Meta app, and connect the channel again by the way "${MORE}" (with deleting and business portfolios).`,
);

/**
 * Only through a Page, a carousel as a whole. What is gone already is no error.
 * https://developers.facebook.com/documentation/instagram-platform/reference/instagram-media
 */
export async function remove(post: InstagramPost, io: PlatformIo): Promise<void> {
  const call = { method: "DELETE", path: idOf(post), rules: MAY_DELETE, isIdempotent: true } as const;
  await sendOrGone(io, call);
}

const NUMBERS_SCOPES = ["instagram_manage_insights", "instagram_business_manage_insights"];

function needNumbers(io: PlatformIo): void {
  needScope(io, NUMBERS_SCOPES, NOT_ALLOWED);
}

/** Stories with few viewers, and accounts that did not allow it, have none. */
async function readNumbers(io: PlatformIo, id: string, metric: string): Promise<Partial<Metrics>> {
  try {
    needNumbers(io);
    const { data } = await ask(io, { path: `${id}/insights`, query: { metric }, rules: MILD }, Numbers);
    const metrics: Partial<Metrics> = {};
    for (const { name, values, total_value: total } of data) {
      const key = NAMES[name];
      const value = values?.[0]?.value ?? total?.value;
      if (key !== undefined && value !== undefined) metrics[key] = value;
    }
    return metrics;
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    io.log.warn({ id, err: error }, "Instagram did not give the numbers of a post");
    return {};
  }
}

/** Their names here and there. */
const SUMMED = {
  views: "views",
  likes: "likes",
  comments: "comments",
  shares: "shares",
  saves: "saves",
  clicks: "profile_links_taps",
} as const;
export const ACCOUNT_METRICS = ["followers", "reach", ...Object.keys(SUMMED)] as const;

const KEPT_MS = 90 * DAY;
/** One request goes no further. */
const SPAN_MS = 30 * DAY;

/** Sums of the time for most; reach, which counts each person once, by day and for at most 30 days as a whole. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const path = isOfPage(io) ? accountId(io) : "me";
  const Followers = z.looseObject({ followers_count: z.number().optional() });
  const me = await ask(io, { path, query: { fields: "followers_count" } }, Followers);
  const followers = me.followers_count === undefined ? {} : { followers: me.followers_count };
  const first = Date.parse(range.from);
  const end = Date.parse(range.to) + DAY;
  if (first < io.now() - KEPT_MS) {
    const reason = "Instagram keeps its numbers for 90 days. Ask for a period that begins later.";
    const rest = ACCOUNT_METRICS.filter((metric) => metric !== "followers");
    return { totals: followers, days: [], unavailable: rest.map((metric) => ({ metric, reason })) };
  }
  const totals: Record<string, number> = { ...followers };
  const days: { date: string; metrics: Record<string, number> }[] = [];
  for (let since = first; since < end; since += SPAN_MS) {
    const span = { since, until: Math.min(since + SPAN_MS, end) };
    for (const [name, value] of await readTotals(io, Object.values(SUMMED), span)) {
      const own = Object.entries(SUMMED).find(([, theirs]) => theirs === name)?.[0] ?? name;
      totals[own] = (totals[own] ?? 0) + value;
    }
    days.push(...(await readReach(io, span)));
  }
  if (end - first > SPAN_MS) {
    const reason =
      "Instagram counts each person once in at most 30 days. Ask for a shorter period, or look at the days.";
    return { totals, days, unavailable: [{ metric: "reach", reason }] };
  }
  for (const [name, value] of await readTotals(io, ["reach"], { since: first, until: end }))
    totals[name] = value;
  return { totals, days, unavailable: [] };
}

interface Span {
  readonly since: number;
  readonly until: number;
}

async function readTotals(
  io: PlatformIo,
  metrics: readonly string[],
  span: Span,
): Promise<[string, number][]> {
  const { data } = await askSpan(io, { metric: metrics.join(","), metric_type: "total_value" }, span);
  return data.flatMap(({ name, total_value: total }) =>
    total?.value === undefined ? [] : [[name, total.value]],
  );
}

async function readReach(
  io: PlatformIo,
  span: Span,
): Promise<{ date: string; metrics: { reach: number } }[]> {
  const { data } = await askSpan(io, { metric: "reach", metric_type: "time_series" }, span);
  return data.flatMap(({ values = [] }) =>
    values.flatMap(({ value, end_time: end }) => {
      const date = dayBefore(end);
      return date === null ? [] : [{ date, metrics: { reach: value } }];
    }),
  );
}

function askSpan(io: PlatformIo, query: { metric: string; metric_type: string }, { since, until }: Span) {
  const times = { since: Math.floor(since / SECOND), until: Math.floor(until / SECOND) };
  needNumbers(io);
  const path = `${accountId(io)}/insights`;
  return ask(io, { path, query: { ...query, period: "day", ...times }, rules: MILD }, Numbers);
}
