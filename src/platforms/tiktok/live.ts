import * as z from "zod";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PlatformAnalytics, PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { callTikTok, failureOf, NOT_READABLE } from "./api.ts";
import { isInbox, permissionsOf, privacyOf, type TikTokPost } from "./metadata.ts";

const PublishStatus = z.looseObject({
  status: z.string(),
  fail_reason: z.string().catch(""),
  uploaded_bytes: z.coerce.number().optional().catch(undefined),
  // TikTok's own spelling.
  publicaly_available_post_id: z.array(Id).catch([]),
});
type PublishStatus = z.infer<typeof PublishStatus>;

export function readStatus(
  io: PlatformIo,
  publishId: string,
  kind: "repeatable" | "numbers" = "repeatable",
): Promise<PublishStatus> {
  const path = "/v2/post/publish/status/fetch/";
  return callTikTok(io, { path, json: { publish_id: publishId }, kind }, PublishStatus);
}

/** What was brought to TikTok, as the ledger keeps it. */
export const SentPost = z.object({
  kind: z.enum(["video", "photo"]),
  /** Null where the post was found without it. */
  publishId: z.string().nullable(),
  /** The public id, where it is known already. */
  postId: z.string().nullable(),
  username: z.string().nullable(),
});
export type SentPost = z.infer<typeof SentPost>;

/** How long the public id is waited for: moderation takes a minute as a rule, hours at worst. */
const ID_FOR_MS = 45 * MINUTE;
const NOTE = "Finish it in the TikTok app. It waits in the account's inbox.";

/** Where the post is that TikTok has: under way, with its person, or public. */
export async function follow(post: TikTokPost, io: PublishIo, sent: SentPost): Promise<PublishOutcome> {
  const username = io.account.handle ?? sent.username;
  const profile = username === null ? null : profileUrl(username);
  if (sent.postId !== null) return liveAt(io, { id: sent.postId, kind: sent.kind, profile });
  const publishId = sent.publishId ?? "";
  const status = await readStatus(io, publishId);
  const [id] = status.publicaly_available_post_id;
  switch (status.status) {
    case "FAILED":
      throw failureOf(status.fail_reason);
    case "SEND_TO_USER_INBOX":
      return {
        state: "held",
        platformPostId: publishId,
        platformUrl: profile,
        checkAgainMs: MINUTE,
        note: NOTE,
      };
    case "PUBLISH_COMPLETE":
      return id === undefined
        ? waitForId(post, io, { platformPostId: publishId, platformUrl: profile })
        : liveAt(io, { id, kind: sent.kind, profile });
    default:
      return { state: "processing", checkAgainMs: await nextLookMs(io) };
  }
}

async function liveAt(
  io: PublishIo,
  { id, kind, profile }: { id: string; kind: SentPost["kind"]; profile: string | null },
): Promise<PublishOutcome> {
  const at = { platformPostId: id, platformUrl: profile === null ? null : `${profile}/${kind}/${id}` };
  await io.live(at);
  return { state: "live", ...at };
}

/** It is published; its public id comes with moderation, and never for what only its owner sees. */
async function waitForId(
  { metadata }: TikTokPost,
  io: PublishIo,
  at: { platformPostId: string; platformUrl: string | null },
): Promise<PublishOutcome> {
  await io.live(at);
  const since = await io.once("published", () => io.now());
  const isToCome = isInbox(metadata) || privacyOf(metadata) !== "SELF_ONLY";
  return isToCome && io.now() - since < ID_FOR_MS
    ? { state: "processing", checkAgainMs: 30 * SECOND }
    : { state: "live", ...at };
}

/** Films are ready within a minute as a rule; 30 questions a minute are allowed. */
async function nextLookMs(io: PublishIo): Promise<number> {
  const since = await io.once("sent", () => io.now());
  return Math.min(Math.max(Math.round((io.now() - since) / 5), 5 * SECOND), MINUTE);
}

export function profileUrl(username: string): string {
  return `https://www.tiktok.com/@${username}`;
}

/** What the channel may not read is not asked for. */
function needPermission({ account }: PlatformIo, scope: string): void {
  if (!permissionsOf(account)(scope)) throw new PlatformFault("rejected", NOT_READABLE);
}

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

type TikTokInsights = Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> };

/** TikTok tells of what everybody can see; of the rest it knows only that it was published. */
export async function insights(
  post: Pick<TikTokPost, "platformPostId">,
  io: PlatformIo,
): Promise<TikTokInsights> {
  const given = post.platformPostId ?? "";
  if (isPublicId(given)) needPermission(io, "video.list");
  if (!isPublicId(given)) return byPublishId(given, io);
  const fields = "id,share_url,create_time,view_count,like_count,comment_count,share_count";
  const json = { filters: { video_ids: [given] } };
  const call = { path: "/v2/video/query/", query: { fields }, json, kind: "numbers" } as const;
  const { videos } = await callTikTok(io, call, Found);
  const video = videos.find(({ id }) => id === given);
  // Removed, or hidden from others: TikTok does not tell which.
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
async function byPublishId(publishId: string, io: PlatformIo): Promise<TikTokInsights> {
  const { status, publicaly_available_post_id: ids } = await readStatus(io, publishId, "numbers");
  const [id] = ids;
  if (id !== undefined) return insights({ platformPostId: id }, io);
  const states: Readonly<Record<string, TikTokInsights["state"]>> = {
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
    needPermission(io, "user.info.stats");
    const fields = "follower_count,following_count,likes_count,video_count";
    const call = { path: "/v2/user/info/", query: { fields }, kind: "numbers" } as const;
    const { user } = await callTikTok(io, call, User);
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
