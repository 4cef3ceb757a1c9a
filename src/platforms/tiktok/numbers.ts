import * as z from "zod";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import type { PlatformAnalytics } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { callTikTok } from "./api.ts";
import { Id } from "../../ports/platform-values.ts";
import type { TikTokPost } from "./metadata.ts";
import { readStatus } from "./status.ts";

const Count = z.int().min(0).nullable().catch(null);

const Found = z.looseObject({
  videos: z
    .array(
      z.looseObject({
        id: Id,
        view_count: Count.optional(),
        like_count: Count.optional(),
        comment_count: Count.optional(),
        share_count: Count.optional(),
      }),
    )
    .catch([]),
});

type Told = Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> };

/** TikTok tells of what everybody can see; of the rest it knows only that it was published. */
export async function insights(post: Pick<TikTokPost, "platformPostId">, io: PlatformIo): Promise<Told> {
  const given = post.platformPostId ?? "";
  if (!isPublicId(given)) return byPublishId(given, io);
  const fields = "id,share_url,create_time,view_count,like_count,comment_count,share_count";
  const { videos } = await callTikTok(
    io,
    {
      path: "/v2/video/query/",
      query: { fields },
      json: { filters: { video_ids: [given] } },
      kind: "numbers",
    },
    Found,
  );
  const video = videos.find(({ id }) => id === given);
  // Removed by somebody, or hidden from others: TikTok does not tell which.
  if (video === undefined) return { state: "removed", visibility: null, metrics: {} };
  const metrics = {
    views: video.view_count ?? null,
    likes: video.like_count ?? null,
    comments: video.comment_count ?? null,
    shares: video.share_count ?? null,
  };
  return { state: "live", visibility: "public", metrics };
}

/** The public id came too late for the post, or there is none. */
async function byPublishId(publishId: string, io: PlatformIo): Promise<Told> {
  const { status, publicaly_available_post_id: ids } = await readStatus(io, publishId, "numbers");
  const [id] = ids;
  if (id !== undefined) return insights({ platformPostId: id }, io);
  const states: Readonly<Record<string, Told["state"]>> = {
    PUBLISH_COMPLETE: "private",
    FAILED: "rejected",
  };
  return { state: states[status] ?? "processing", visibility: null, metrics: {} };
}

function isPublicId(id: string): boolean {
  return /^\d+$/.test(id);
}

export const ACCOUNT_METRICS = ["followers", "following", "likes", "posts"] as const;

const User = z.looseObject({
  user: z.looseObject({
    follower_count: Count.optional(),
    following_count: Count.optional(),
    likes_count: Count.optional(),
    video_count: Count.optional(),
  }),
});

const NOT_OFFERED = ["views", "impressions", "reach"].map((metric) => ({
  metric,
  reason: "TikTok gives apps only current numbers, and this one only for single posts or not at all.",
}));

/** How the account stands now; TikTok keeps no days for apps. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  try {
    const fields = "follower_count,following_count,likes_count,video_count";
    const { user } = await callTikTok(
      io,
      { path: "/v2/user/info/", query: { fields }, kind: "numbers" },
      User,
    );
    const given = {
      followers: user.follower_count,
      following: user.following_count,
      likes: user.likes_count,
      posts: user.video_count,
    };
    const told = Object.entries(given).flatMap(([name, count]) =>
      count === undefined || count === null ? [] : [[name, count] as const],
    );
    return { totals: Object.fromEntries(told), days: [], unavailable: NOT_OFFERED };
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    const missing = ACCOUNT_METRICS.map((metric) => ({ metric, reason: error.message }));
    return { totals: {}, days: [], unavailable: [...missing, ...NOT_OFFERED] };
  }
}
