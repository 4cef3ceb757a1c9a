import * as z from "zod";
import { say } from "../../domain/sentences.ts";
import type { Metrics } from "../../domain/posts/post.ts";
import { DAY } from "../../domain/time.ts";
import type { Inspection, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { ask, askOrGone, Id, ME, sendOrGone, UserAnswer } from "./api.ts";
import { partsOf, type XPost } from "./metadata.ts";
import { stepOf } from "./publish.ts";
import { idReader } from "../shared/live.ts";

/** For so long X tells clicks; asked for later, it tells nothing. */
const CLICKS_FOR_MS = 29 * DAY;

/** Who the account is, and whether it may write long posts. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const { data } = await ask(io, ME, UserAnswer);
  const plan = (data.subscription_type ?? "none").toLowerCase();
  return {
    ...(data.name === "" ? {} : { name: data.name }),
    handle: data.username,
    avatarUrl: data.profile_image_url,
    limits: { isPremium: plan !== "none" && plan !== "" },
    problem: null,
  };
}

const Count = z.int().min(0).optional().catch(undefined);

const Found = z.looseObject({
  data: z
    .looseObject({
      public_metrics: z
        .looseObject({
          impression_count: Count,
          like_count: Count,
          reply_count: Count,
          repost_count: Count,
          retweet_count: Count,
          quote_count: Count,
          bookmark_count: Count,
        })
        .catch({}),
      non_public_metrics: z.looseObject({ url_link_clicks: Count }).catch({}),
    })
    .nullish(),
  includes: z
    .looseObject({
      media: z.array(z.looseObject({ public_metrics: z.looseObject({ view_count: Count }).catch({}) })),
    })
    .catch({ media: [] }),
});

export async function insights(post: XPost, io: PlatformIo): Promise<PostInsights> {
  const isRecent = io.now() - post.scheduledAt < CLICKS_FOR_MS;
  const query = {
    "tweet.fields": isRecent ? "non_public_metrics,public_metrics" : "public_metrics",
    expansions: "attachments.media_keys",
    "media.fields": "public_metrics",
  };
  const answer = await askOrGone(io, { path: `/2/tweets/${idOf(post)}`, query }, Found);
  if (answer === null) return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: "public", metrics: metricsOf(answer) };
}

function metricsOf({ data, includes }: z.infer<typeof Found>): Partial<Metrics> {
  const { public_metrics: shown = {}, non_public_metrics: own = {} } = data ?? {};
  const shares = [shown.repost_count ?? shown.retweet_count, shown.quote_count];
  const views = includes.media.flatMap(({ public_metrics: { view_count: count } }) => count ?? []);
  return {
    impressions: shown.impression_count ?? null,
    likes: shown.like_count ?? null,
    comments: shown.reply_count ?? null,
    shares: shares.every((count) => count === undefined)
      ? null
      : shares.reduce((sum: number, count) => sum + (count ?? 0), 0),
    saves: shown.bookmark_count ?? null,
    clicks: own.url_link_clicks ?? null,
    ...(views.length === 0 ? {} : { views: Math.max(...views) }),
  };
}

/** X tells numbers of the account as they are now, and of a range none that is not paid for post by post. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const { data } = await ask(io, ME, UserAnswer);
  const { followers_count: followers, following_count: following } = data.public_metrics;
  return {
    totals: {
      ...(followers === undefined ? {} : { followers }),
      ...(following === undefined ? {} : { following }),
    },
    days: [],
    unavailable: ["views", "impressions", "reach", "likes", "comments", "shares", "clicks"].map((metric) => ({
      metric,
      reason: say("X gives this only post by post, and each costs money.", {
        next: [{ do: "read_insights" }],
      }),
    })),
  };
}

/** Deletes the whole thread, last part first. What is gone already is no error. */
export async function remove(post: XPost, io: PlatformIo): Promise<void> {
  const replies = partsOf(post)
    .slice(1)
    .flatMap((_part, nth) => Posted.safeParse(io.resultOf(stepOf(nth))).data?.id ?? []);
  for (const id of [...replies.toReversed(), idOf(post)]) {
    const call = { method: "DELETE", path: `/2/tweets/${id}`, isIdempotent: true } as const;
    await sendOrGone(io, call);
  }
}

const Posted = z.object({ id: Id });

const idOf = idReader("is not the number of a post on X, so it cannot be found there.", /^\d{1,19}$/);
