import * as z from "zod";
import type { Metrics } from "../../domain/posts/post.ts";
import { DAY } from "../../domain/time.ts";
import type { AnalyticsDay, PlatformAnalytics } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { didOf } from "./session.ts";
import { xrpc } from "./xrpc.ts";

const PUBLIC_APP_VIEW = "https://public.api.bsky.app";
const PAGE = 100;
const MAX_PAGES = 20;

/** Bluesky's public index of the network; none for another network, unless one is set. */
export function appViewOf(io: Pick<PlatformIo, "setting">): string | null {
  return io.setting("APPVIEW_URL") ?? (io.setting("BASE_URL") === null ? PUBLIC_APP_VIEW : null);
}

const Count = z.int().min(0).optional();

/** What the index counts of a post. */
export const Counts = z.looseObject({
  uri: z.string(),
  likeCount: Count,
  repostCount: Count,
  replyCount: Count,
  quoteCount: Count,
  bookmarkCount: Count,
});
export type Counts = z.infer<typeof Counts>;

export function countOf(counts: Counts): Partial<Metrics> {
  const { likeCount, repostCount, replyCount, quoteCount, bookmarkCount } = counts;
  const isShared = repostCount !== undefined || quoteCount !== undefined;
  return {
    likes: likeCount ?? null,
    comments: replyCount ?? null,
    shares: isShared ? (repostCount ?? 0) + (quoteCount ?? 0) : null,
    saves: bookmarkCount ?? null,
  };
}

export const ACCOUNT_METRICS = ["followers", "posts", "likes", "comments", "shares"] as const;

const NOT_OFFERED = ["views", "impressions", "reach", "clicks"].map((metric) => ({
  metric,
  reason: "Bluesky does not count this.",
}));

const Profile = z.looseObject({ followersCount: Count });

/** Followers as they are now, and the reactions so far to the posts of the range, by the day of the post. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const base = appViewOf(io);
  if (base === null) return nothing("No index of this network is set (POSTHORN_BLUESKY_APPVIEW_URL).");
  try {
    const profile = await xrpc(
      io,
      { base, nsid: "app.bsky.actor.getProfile", params: { actor: didOf(io) } },
      Profile,
    );
    const days = await readDays(range, { base, io });
    const followers = profile.followersCount;
    return {
      totals: { ...(followers === undefined ? {} : { followers }), ...sumOf(days) },
      days,
      unavailable: NOT_OFFERED,
    };
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "Bluesky's index did not give the account's numbers");
    return nothing("Bluesky's index could not be asked. Try again later.");
  }
}

function nothing(reason: string): PlatformAnalytics {
  return {
    totals: {},
    days: [],
    unavailable: [...ACCOUNT_METRICS.map((metric) => ({ metric, reason })), ...NOT_OFFERED],
  };
}

const FeedPage = z.looseObject({
  cursor: z.string().optional(),
  feed: z.array(
    z.looseObject({
      post: Counts.extend({ record: z.looseObject({ createdAt: z.string() }) }),
      reason: z.unknown().optional(),
    }),
  ),
});
type FeedItem = z.infer<typeof FeedPage>["feed"][number];

async function readDays(
  range: { from: string; to: string },
  at: { base: string; io: PlatformIo },
): Promise<AnalyticsDay[]> {
  const days = new Map<string, Record<string, number>>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = {
      actor: didOf(at.io),
      limit: String(PAGE),
      filter: "posts_with_replies",
      ...(cursor === undefined ? {} : { cursor }),
    };
    const answer = await xrpc(
      at.io,
      { base: at.base, nsid: "app.bsky.feed.getAuthorFeed", params },
      FeedPage,
    );
    for (const item of answer.feed) addToDay(days, item, range);
    cursor = answer.cursor;
    if (cursor === undefined || isBefore(answer.feed, range.from)) break;
  }
  return [...days.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, metrics]) => ({ date, metrics }));
}

/** A pinned or reposted item stands out of order: only own posts tell how far back the feed is. */
function isBefore(feed: readonly FeedItem[], from: string): boolean {
  const last = feed.findLast((item) => item.reason === undefined);
  return (
    last !== undefined &&
    last.post.record.createdAt.slice(0, 10) < new Date(Date.parse(from) - DAY).toISOString().slice(0, 10)
  );
}

function addToDay(
  days: Map<string, Record<string, number>>,
  item: FeedItem,
  range: { from: string; to: string },
): void {
  const date = item.post.record.createdAt.slice(0, 10);
  if (item.reason !== undefined || date < range.from || date > range.to) return;
  const day = days.get(date) ?? { posts: 0, likes: 0, comments: 0, shares: 0 };
  const { likes, comments, shares } = countOf(item.post);
  days.set(date, {
    posts: (day["posts"] ?? 0) + 1,
    likes: (day["likes"] ?? 0) + (likes ?? 0),
    comments: (day["comments"] ?? 0) + (comments ?? 0),
    shares: (day["shares"] ?? 0) + (shares ?? 0),
  });
}

function sumOf(days: readonly AnalyticsDay[]): Record<string, number> {
  const sums: Record<string, number> = { posts: 0, likes: 0, comments: 0, shares: 0 };
  for (const { metrics } of days)
    for (const [name, value] of Object.entries(metrics)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}
