import * as z from "zod";
import { hasScope } from "../shared/consent.ts";
import { AppError } from "../../domain/errors.ts";
import type { Metrics } from "../../domain/posts/post.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { Platform } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { fileNameOf } from "../shared/media.ts";
import { Created, listEntries, Moment, withoutPermission } from "../shared/meta/graph.ts";
import { findFirst } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { askPage, askPageOrGone, pageOf, pageRequest, sendAsPage, sendAsPageOrGone } from "./api.ts";
import type { FacebookMetadata, FacebookPost } from "./metadata.ts";
import { readFilm } from "./upload.ts";

type OfFacebook = Platform<typeof FacebookMetadata>;

/** Posts are named by their Page and themselves, films by themselves. */
function isFilm({ platformPostId }: FacebookPost): boolean {
  return !(platformPostId ?? "").includes("_");
}

const Story = z.looseObject({
  post_id: Id.optional().catch(undefined),
  media_id: Id.optional().catch(undefined),
  status: z.string().catch(""),
  url: z
    .url({ protocol: /^https$/ })
    .optional()
    .catch(undefined),
});

/**
 * A story by the picture or film that it shows. `isWhole`: the Page keeps its stories, without which Facebook
 * does not list them: https://developers.facebook.com/docs/page-stories-api
 */
export async function findStory(
  io: PlatformIo,
  mediaId: string,
): Promise<{ readonly story: z.infer<typeof Story> | null; readonly isWhole: boolean }> {
  const call = { path: `${pageOf(io)}/stories`, query: { fields: "post_id,media_id,status,url" } };
  let isWhole = false;
  try {
    for await (const story of listEntries(io, pageRequest(io, call), Story, { maxPages: 4 })) {
      if (story.media_id === mediaId) return { story, isWhole: true };
      isWhole ||= story.status === ARCHIVED && story.media_id !== undefined;
    }
    return { story: null, isWhole };
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    return { story: null, isWhole: false };
  }
}

const ARCHIVED = "ARCHIVED";

/** https://developers.facebook.com/blog/post/2026/02/18/introducing-graph-api-v25-and-marketing-api-v25/ */
const STORY_METRICS = { PAGE_STORY_TOTAL_MEDIA_VIEW_UNIQUE: "reach" } as const;

/** Whether it is still shown, and how many people have seen it. */
async function storyInsights(post: FacebookPost, io: PlatformIo): ReturnType<typeof insights> {
  const { story, isWhole } = await findStory(io, post.platformPostId ?? "");
  const isOver = io.now() >= post.scheduledAt + DAY || story?.status === ARCHIVED;
  if (isOver || (story === null && isWhole)) return { state: "removed", visibility: null, metrics: {} };
  const path = story?.post_id;
  const metrics = path === undefined ? {} : await readNamed(io, { path, names: STORY_METRICS });
  return { state: story === null ? "unknown" : "live", visibility: "public", metrics };
}

/** Facebook lets an app change the text of what it has posted itself. */
export const edit: NonNullable<OfFacebook["edit"]> = async (post, changed, io) => {
  if (post.metadata.story === true)
    throw new AppError("conflict", "A Facebook story has no text that could be changed.");
  if (!isFilm(post) && changed.includes("title"))
    throw new AppError("conflict", "metadata.title: only videos have a title on Facebook. Leave it out.");
  const { caption, metadata, platformPostId } = post;
  const text = caption ?? "";
  const film = { description: text, ...(metadata.title === undefined ? {} : { name: metadata.title }) };
  const json = isFilm(post) ? film : { message: text };
  const call = { method: "POST", path: platformPostId ?? "", json, isIdempotent: true } as const;
  await sendAsPage(io, call);
  return {};
};

/** What is gone already is no error. */
export const remove: NonNullable<OfFacebook["remove"]> = async ({ platformPostId }, io) => {
  const path = platformPostId ?? "";
  await sendAsPageOrGone(io, { method: "DELETE", path, isIdempotent: true });
};

const Total = z.looseObject({ summary: z.looseObject({ total_count: z.int().min(0) }) }).optional();

const Counted = z.looseObject({
  is_published: z.boolean().optional(),
  published: z.boolean().optional(),
  views: z.int().min(0).optional(),
  reactions: Total,
  likes: Total,
  comments: Total,
  shares: z.looseObject({ count: z.int().min(0) }).optional(),
});

const SUMMARY = "limit(0).summary(total_count)";
const POST_FIELDS = `is_published,shares,reactions.${SUMMARY},comments.${SUMMARY}`;
const FILM_FIELDS = `published,views,likes.${SUMMARY},comments.${SUMMARY}`;

/** What posts are counted by since the impressions were taken away (June 2026). */
const POST_METRICS = {
  post_media_view: "views",
  post_total_media_view_unique: "reach",
  post_clicks: "clicks",
} as const satisfies Readonly<Record<string, keyof Metrics>>;

export const insights: NonNullable<OfFacebook["insights"]> = async (post, io) => {
  if (post.metadata.story === true) return storyInsights(post, io);
  const path = post.platformPostId ?? "";
  const query = { fields: isFilm(post) ? FILM_FIELDS : POST_FIELDS };
  const answer = await askPageOrGone(io, { path, query }, Counted);
  if (answer === null) return { state: "removed", visibility: null, metrics: {} };
  const { is_published, published, views, reactions, likes, comments, shares } = answer;
  const isPublic = is_published ?? published ?? true;
  const counts: Partial<Metrics> = {
    views: views ?? null,
    likes: (reactions ?? likes)?.summary.total_count ?? null,
    comments: comments?.summary.total_count ?? null,
    // Left out while it is not shared.
    ...(isFilm(post) ? {} : { shares: shares?.count ?? 0 }),
  };
  const state = isPublic ? "live" : await hiddenState(post, io);
  const more = await readMetrics(post, io);
  return { state, visibility: isPublic ? "public" : "private", metrics: { ...counts, ...more } };
};

async function hiddenState(
  post: FacebookPost,
  io: PlatformIo,
): Promise<"private" | "processing" | "rejected"> {
  const film = isFilm(post) ? await readFilm(io, post.platformPostId ?? "") : null;
  if (film === null || film.isScheduled) return "private";
  if (film.fault !== null) return "rejected";
  return film.isReady ? "private" : "processing";
}

/** https://developers.facebook.com/docs/graph-api/reference/video/video_insights: plays again count too. */
const REEL_METRICS = {
  fb_reels_total_plays: "views",
  post_video_social_actions: "shares",
} as const satisfies Readonly<Record<string, keyof Metrics>>;

/** Of films, only reels have figures beyond their fields. */
async function readMetrics(post: FacebookPost, io: PlatformIo): Promise<Partial<Metrics>> {
  const isReel = /\/reel\//.test(post.platformUrl ?? "");
  if (isFilm(post) && !isReel) return {};
  const path = post.platformPostId ?? "";
  return isFilm(post)
    ? readNamed(io, { path, edge: "video_insights", names: REEL_METRICS })
    : readNamed(io, { path, names: POST_METRICS });
}

interface MetricsRequest extends Pick<InsightsRequest, "path" | "edge"> {
  /** Ours by Facebook's. */
  readonly names: Readonly<Record<string, keyof Metrics>>;
}

async function readNamed(io: PlatformIo, { names, ...at }: MetricsRequest): Promise<Partial<Metrics>> {
  const read = await readInsights(io, { ...at, metrics: Object.keys(names), query: {} });
  const metrics: Partial<Metrics> = {};
  for (const [name, ours] of Object.entries(names)) {
    const value = read.get(name)?.at(-1)?.value;
    if (value !== undefined) metrics[ours] = value;
  }
  return metrics;
}

/** What people did with a reel, by kinds: its comments and likes are fields of it. */
const Actions = z.looseObject({ SHARE: z.number().catch(0) }).transform(({ SHARE }) => SHARE);

const Value = z.looseObject({
  value: z.union([z.number(), Actions]).catch(0),
  end_time: z.string().optional(),
});
const Insight = z.looseObject({ name: z.string(), values: z.array(Value) });
const Insights = z.looseObject({ data: z.array(Insight) });
type InsightValue = z.infer<typeof Value>;

const NOT_READABLE =
  "The Page was connected without the permission read_insights. Connect it again to see its numbers.";
const MAY_READ = withoutPermission(NOT_READABLE);
const mayRead = hasScope("read_insights");

/** Of what the person did not allow. */
export function unreadable(io: PlatformIo, metrics: readonly string[]): { metric: string; reason: string }[] {
  return mayRead(io) ? [] : metrics.map((metric) => ({ metric, reason: NOT_READABLE }));
}

interface InsightsRequest {
  /** A Page's, a post's or a reel's id. */
  readonly path: string;
  readonly edge?: "insights" | "video_insights";
  readonly metrics: readonly string[];
  readonly query: Readonly<Record<string, string | number>>;
}

/**
 * Numbers by their names at Facebook. It takes metrics away now and then, and one that it does not know fails
 * the whole request: then each is asked for by itself, and those that are refused are left out.
 */
export async function readInsights(
  io: PlatformIo,
  asked: InsightsRequest,
): Promise<Map<string, readonly InsightValue[]>> {
  if (!mayRead(io)) return new Map();
  try {
    const { path, edge = "insights" } = asked;
    const query = { ...asked.query, metric: asked.metrics.join(",") };
    const { data } = await askPage(io, { path: `${path}/${edge}`, query, rules: MAY_READ }, Insights);
    return new Map(data.map(({ name, values }) => [name, values]));
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    const found = new Map<string, readonly InsightValue[]>();
    if (asked.metrics.length < 2) return found;
    for (const metric of asked.metrics) {
      const one = await readInsights(io, { ...asked, metrics: [metric] });
      for (const [name, values] of one) found.set(name, values);
    }
    return found;
  }
}

interface LivePost {
  readonly post: FacebookPost;
  readonly plan: "feed" | "reel" | "video" | "photoStory" | "filmStory";
  readonly id: string;
}

/** What belongs to a post and comes after it. */
export async function followUp({ post, plan, id }: LivePost, io: PublishIo): Promise<void> {
  const { firstComment, thumbnailUrl, collaborators } = post.metadata;
  if (thumbnailUrl !== undefined && plan !== "feed")
    await io.followUp("The thumbnail", () => putThumbnail({ id, thumbnailUrl }, io));
  if (collaborators !== undefined && plan === "reel")
    await io.followUp("The invitation of collaborators", () => invite({ id, pages: collaborators }, io));
  if (firstComment !== undefined)
    await io.followUp("The first comment", () => comment({ id, text: firstComment }, io));
}

const MAY_INVITE = withoutPermission("Facebook does not let the Page invite others to this reel.");

/** https://developers.facebook.com/documentation/video-api/guides/reels-publishing */
async function invite(
  { id, pages }: { readonly id: string; readonly pages: readonly string[] },
  io: PublishIo,
): Promise<void> {
  for (const pageId of pages)
    await io.effect<null>({
      step: `invite.${pageId}`,
      request: { id, pageId },
      send: async ({ timesSent }) => {
        const json = { target_id: pageId };
        const call = { method: "POST", path: `${id}/collaborators`, json, rules: MAY_INVITE } as const;
        try {
          await sendAsPage(io, { ...call, isIdempotent: true });
        } catch (error) {
          // Who was asked before is not asked again.
          const isAsked = error instanceof PlatformFault && error.kind === "rejected" && timesSent > 0;
          if (!isAsked) throw error;
        }
        return null;
      },
      reconcile: async () => ({ outcome: "send_again" }),
    });
}

const MAY_COMMENT = withoutPermission(
  "The Page was connected without the permission pages_manage_engagement. Connect it again to comment.",
);

const Comment = z.looseObject({
  id: Id,
  message: z.string().catch(""),
  created_time: Moment,
});

async function comment(
  { id, text }: { readonly id: string; readonly text: string },
  io: PublishIo,
): Promise<void> {
  const path = `${id}/comments`;
  await io.effect<string>({
    step: "comment",
    request: { id, text },
    send: async () => {
      const json = { message: text };
      return (await askPage(io, { method: "POST", path, json, rules: MAY_COMMENT }, Created)).id;
    },
    reconcile: (context) =>
      reconcileByListing<string>(context, {
        io,
        listedAfterMs: MINUTE,
        find: async (since) => {
          const fields = "id,message,created_time";
          const query = { fields, order: "reverse_chronological", filter: "stream" };
          const request = pageRequest(io, { path, query, rules: MAY_COMMENT });
          const all = listEntries(io, request, Comment, { until: ({ created_time: at }) => at < since });
          const isOurs = (one: z.infer<typeof Comment>): boolean =>
            one.created_time >= since && one.message.trim() === text.trim();
          return (await findFirst(all, isOurs))?.id ?? null;
        },
      }),
  });
}

const MAY_DRESS = withoutPermission("Facebook does not let the Page change the picture of this video.");

/** https://developers.facebook.com/docs/graph-api/reference/video/thumbnails; larger ones are refused. */
const THUMBNAIL_LIMITS = { maxBytes: 10_000_000, mimeTypes: ["image/jpeg", "image/png"] } as const;

async function putThumbnail(
  { id, thumbnailUrl }: { readonly id: string; readonly thumbnailUrl: string },
  io: PublishIo,
): Promise<void> {
  const item = await io.media.item(thumbnailUrl);
  const { bytes, mimeType } = await io.media.fitImage(item, THUMBNAIL_LIMITS);
  await io.effect<null>({
    step: "thumbnail",
    request: { id, thumbnailUrl },
    send: async () => {
      const multipart = [
        { name: "is_preferred", text: "true" },
        { name: "source", fileName: fileNameOf(mimeType, "photo"), mimeType, bytes },
      ];
      const call = { ...UPLOAD_TIMES, method: "POST", path: `${id}/thumbnails`, multipart } as const;
      await sendAsPage(io, { ...call, rules: MAY_DRESS, isIdempotent: true });
      return null;
    },
    // The last one counts.
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

/** Puts another picture in front of a film. Throws `conflict` for a post that is none. */
export async function setThumbnail(post: FacebookPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  if (!isFilm(post) || post.metadata.story === true)
    throw new AppError("conflict", "Only videos have a thumbnail on Facebook, and this post has none.");
  await putThumbnail({ id: post.platformPostId ?? "", thumbnailUrl }, io);
}
