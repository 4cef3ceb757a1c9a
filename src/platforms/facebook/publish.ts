import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { type Json, type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import {
  type LiveAt,
  type PublishIo,
  type ReconcileContext,
  type Reconciled,
  StillProcessing,
} from "../../ports/publish-io.ts";
import { itemsOf, openAll } from "../shared/media.ts";
import { Created, listEntries, Moment } from "../shared/meta/graph.ts";
import { findFirst } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import {
  askPage,
  askPageOrGone,
  Duplicate,
  DUPLICATE,
  findPost,
  pageOf,
  pageRequest,
  PagePost,
  reconcilePost,
  sendAsPage,
} from "./api.ts";
import { findStory, followUp } from "./live.ts";
import {
  checkPost,
  type FacebookPost,
  type FilmKind,
  filmKindOf,
  FLIP_AFTER_MS,
  type Timing,
  timingOf,
  TooNear,
} from "./metadata.ts";
import { preparePhotos, readFilm, type ReelEdge, uploadReel, uploadVideo } from "./upload.ts";

const Plan = z.enum(["feed", "reel", "video", "photoStory", "filmStory"]);
type Plan = z.infer<typeof Plan>;

export async function publish(post: FacebookPost, io: PublishIo): Promise<PublishOutcome> {
  const plan = Plan.parse(await io.once("plan", () => planOf(post, io)));
  const isStory = isStoryPlan(plan);
  // Facebook schedules none, and drops pictures that wait.
  if (isStory && !io.isDue) return { state: "prepared" };
  try {
    // What is placed needs its media no more.
    const placed = PagePost.nullable().parse(io.resultOf("post")) ?? (await place(post, plan, io));
    const found = liveAt(placed, plan, io);
    const seen = await look({ post, plan, placed }, io);
    if (seen === "waiting") return { state: "held", ...found };
    if (seen === "draft") return { state: "held", ...found, checkAgainMs: 5 * MINUTE, note: DRAFT_NOTE };
    const at = isStory
      ? { ...found, platformUrl: (await findStory(io, placed.id)).story?.url ?? null }
      : found;
    await io.live(at);
    await followUp({ post, plan, id: placed.id }, io);
    return { state: "live", ...at };
  } catch (error) {
    if (error instanceof TooNear) return { state: "prepared" };
    throw error;
  }
}

/** All media are looked at before anything is sent, so that what cannot be posted is refused as a whole. */
async function planOf(post: FacebookPost, io: PublishIo): Promise<Plan> {
  const facts = new Map((await openAll(itemsOf(post), io)).map((item) => [item.url, item.facts]));
  const { errors } = checkPost(post, { media: facts });
  if (errors.length > 0) throw new AppError("invalid", errors.join(" "));
  const film = facts.get(post.mediaUrl);
  if (film?.type === "video") return filmKindOf(post, film);
  return post.metadata.story === true ? "photoStory" : "feed";
}

function isStoryPlan(plan: Plan): boolean {
  return plan === "photoStory" || plan === "filmStory";
}

function place(post: FacebookPost, plan: Plan, io: PublishIo): Promise<PagePost> {
  if (plan === "photoStory") return placePhotoStory(post, io);
  return plan === "feed" ? placeOnFeed(post, io) : placeFilm({ post, kind: plan }, io);
}

/** A story is known by what it shows. Only Facebook's list tells its address. */
function liveAt({ id }: PagePost, plan: Plan, io: PublishIo): LiveAt & { readonly platformPostId: string } {
  if (plan === "photoStory" || plan === "filmStory") return { platformPostId: id, platformUrl: null };
  const site = "https://www.facebook.com";
  const path = { feed: id, reel: `reel/${id}`, video: `${pageOf(io)}/videos/${id}` }[plan];
  return { platformPostId: id, platformUrl: `${site}/${path}` };
}

interface Hung {
  readonly post: FacebookPost;
  readonly plan: Plan;
  readonly placed: PagePost;
}

/**
 * Facebook takes vertical films in as drafts now and then, though they were published, and asks a person to share
 * them: https://github.com/gitroomhq/postiz-app/pull/1740
 */
const DRAFT_NOTE =
  "Facebook keeps the video as a draft, as it does with some vertical videos. Publish it in Meta Business Suite, or in the Facebook app.";

/** `out`: everybody can see it; `draft`: a person must publish it. Throws StillProcessing while it is not known. */
async function look(hung: Hung, io: PublishIo): Promise<"out" | "waiting" | "draft"> {
  const { post, plan, placed } = hung;
  if (plan === "photoStory" || (plan === "feed" && !placed.isScheduled)) return "out";
  if (plan === "feed" && !io.isDue) return "waiting";
  const film = plan === "feed" ? null : await readFilm(io, placed.id);
  const state = plan === "feed" ? await readPost(io, placed.id) : film;
  if (state === null) throw new PlatformFault("rejected", GONE_SENTENCE);
  if (film !== null && film.fault !== null) throw film.fault;
  if (state.isPublished && io.isDue) return "out";
  if (plan === "filmStory" && film?.isReady === true) return "out";
  const isReadyVideo = plan === "video" && film !== null && film.isReady;
  if (film !== null && (!placed.isScheduled || !io.isDue)) {
    if (placed.isScheduled && film.isReady) return "waiting";
    const isDraft = isReadyVideo && io.now() >= (await io.once("ready", () => io.now())) + FLIP_AFTER_MS;
    if (isDraft) return "draft";
    throw new StillProcessing(CHECK_FILM_MS);
  }
  if (io.now() < post.scheduledAt + FLIP_AFTER_MS) return "waiting";
  await publishNow(hung, io);
  return isReadyVideo ? "draft" : "waiting";
}

const GONE_SENTENCE = "It is not on Facebook any more. It was deleted there before its time. Send it again.";

/** Its time is over for a while and Facebook has not published it. */
async function publishNow({ plan, placed }: Hung, io: PublishIo): Promise<void> {
  const json: JsonObject = plan === "feed" ? { is_published: true } : { published: true };
  await sendAsPage(io, { method: "POST", path: placed.id, json, isIdempotent: true });
}

/** How soon a film is asked about again. */
const CHECK_FILM_MS = 5 * SECOND;

/**
 * A film is there, unseen, before the step that makes it public. That step names it: however often it is sent,
 * it is one post.
 */
async function placeFilm(
  { post, kind }: { readonly post: FacebookPost; readonly kind: FilmKind },
  io: PublishIo,
): Promise<PagePost> {
  const id = await io.effect<string>({
    step: "upload",
    request: { url: post.mediaUrl, kind },
    send: async (context) => {
      const item = await io.media.item(post.mediaUrl);
      if (kind === "video") return uploadVideo({ post, item }, io, context);
      return uploadReel({ item, edge: EDGES[kind] }, io, context);
    },
    reconcile: async () => ({ outcome: "send_again" }),
    isGone: async (film) => {
      const state = await readFilm(io, film);
      return state === null || (kind !== "video" && state.fault !== null);
    },
  });
  if (kind === "video") await assertReady(id, io);
  return io.effect<PagePost>({
    step: "post",
    request: { id, caption: post.caption, title: post.metadata.title ?? null },
    send: ({ timesSent }) => release({ post, kind, id, isAgain: timesSent > 0 }, io),
    reconcile: (context) => reconcileFilm({ post, kind, id }, io, context),
  });
}

const EDGES = { reel: "video_reels", filmStory: "video_stories" } as const satisfies Record<string, ReelEdge>;

/** A reel is processed once it is released; any other film as soon as it is there. */
async function assertReady(id: string, io: PublishIo): Promise<void> {
  const film = await readFilm(io, id);
  if (film?.fault !== undefined && film.fault !== null) throw film.fault;
  if (film !== null && !film.isReady) throw new StillProcessing(CHECK_FILM_MS);
}

interface Release {
  readonly post: FacebookPost;
  readonly kind: FilmKind;
  readonly id: string;
}

async function release(
  { post, kind, id, isAgain }: Release & { isAgain: boolean },
  io: PublishIo,
): Promise<PagePost> {
  const timing = timingOf(post, io);
  const when: JsonObject = timing.isScheduled ? { scheduled_publish_time: timing.at } : {};
  const path = kind === "video" ? id : `${pageOf(io)}/${EDGES[kind]}`;
  const finish = { upload_phase: "finish", video_id: id };
  const json: JsonObject = {
    reel: {
      ...finish,
      video_state: timing.isScheduled ? "SCHEDULED" : "PUBLISHED",
      ...textOf(post),
      ...placeOf(post),
      ...when,
    },
    video: { published: !timing.isScheduled, ...when },
    filmStory: finish,
  }[kind];
  try {
    await sendAsPage(io, { method: "POST", path, json });
  } catch (error) {
    // What was released before is not taken a second time.
    const film = isAgain && isRefusal(error) ? await readFilm(io, id) : null;
    const isTaken = film !== null && (film.isPublished || film.isScheduled || film.isBegun);
    if (!isTaken) throw error;
    return { id, isScheduled: film.isScheduled || timing.isScheduled };
  }
  return { id, isScheduled: timing.isScheduled };
}

function isRefusal(error: unknown): boolean {
  return error instanceof PlatformFault && error.kind === "rejected";
}

function textOf({ caption, metadata: { title } }: FacebookPost): Record<string, Json> {
  return {
    ...(caption === null ? {} : { description: caption }),
    ...(title === undefined ? {} : { title }),
  };
}

async function reconcileFilm(
  { post, kind, id }: Release,
  io: PublishIo,
  { intentAt }: ReconcileContext,
): Promise<Reconciled<PagePost>> {
  const film = await readFilm(io, id);
  if (film?.isPublished === true) return { outcome: "done", result: { id, isScheduled: false } };
  if (film?.isScheduled === true) return { outcome: "done", result: { id, isScheduled: true } };
  // Only a restored copy, which does not know of what was uploaded, can have another one out.
  const other = await findOther({ post, kind, id }, io, intentAt - MINUTE);
  return other === null ? { outcome: "send_again" } : { outcome: "done", result: other };
}

const Listed = z.looseObject({
  id: Id,
  description: z.string().catch(""),
  created_time: Moment,
  published: z.boolean().optional(),
});

async function findOther(
  { post, kind, id }: Release,
  io: PublishIo,
  since: number,
): Promise<PagePost | null> {
  const text = (post.caption ?? "").trim();
  if (text === "" || kind === "filmStory") return null;
  const path = `${pageOf(io)}/${kind === "reel" ? "video_reels" : "videos"}`;
  const query = {
    fields: "id,description,created_time,published",
    ...(kind === "reel" ? {} : { type: "uploaded" }),
  };
  const films = listEntries(io, pageRequest(io, { path, query }), Listed, {
    perPage: 25,
    until: ({ created_time: at }) => at < since,
  });
  const isOurs = (film: z.infer<typeof Listed>): boolean =>
    film.id !== id &&
    film.created_time >= since &&
    film.published !== false &&
    film.description.trim() === text;
  const found = await findFirst(films, isOurs);
  return found === null ? null : { id: found.id, isScheduled: false };
}

/** A picture that is not seen, and the call that shows it for a day. */
async function placePhotoStory(post: FacebookPost, io: PublishIo): Promise<PagePost> {
  const [photo] = await preparePhotos(post, io);
  if (photo === undefined) throw new Error("A story without a picture.");
  const placed: PagePost = { id: photo, isScheduled: false };
  return io.effect<PagePost>({
    step: "post",
    request: { photo },
    send: async () => {
      const json = { photo_id: photo };
      await sendAsPage(io, { method: "POST", path: `${pageOf(io)}/photo_stories`, json });
      return placed;
    },
    reconcile: (context) =>
      reconcileByListing<PagePost>(context, {
        io,
        listedAfterMs: MINUTE,
        find: async (_since, doubts) => {
          const { story, isWhole } = await findStory(io, photo);
          if (!isWhole) doubts(UNLISTED);
          return story === null ? null : placed;
        },
      }),
  });
}

const UNLISTED =
  "the answer was lost, and Facebook lists stories only of Pages that keep them in their archive.";

/**
 * Text, a link, or pictures. The pictures go first, unseen: what makes the post is then a small request, and a
 * lost answer is found again by them.
 */
async function placeOnFeed(post: FacebookPost, io: PublishIo): Promise<PagePost> {
  const photos = await preparePhotos(post, io);
  const content = contentOf(post, photos);
  return io.effect<PagePost>({
    step: "post",
    request: content,
    send: async ({ timesSent }) => {
      const startedAt = io.now();
      const timing = timingOf(post, io);
      try {
        const json = { ...content, ...fieldsOf(timing) };
        const call = { method: "POST", path: `${pageOf(io)}/feed`, json, rules: [DUPLICATE] } as const;
        const { id } = await askPage(io, call, Created);
        return { id, isScheduled: timing.isScheduled };
      } catch (error) {
        // Of a first sending it is another post's; after it, most likely our own.
        if (!(error instanceof Duplicate) || timesSent === 0) throw error;
        const found = await findPost({ post, photos, since: startedAt - ADOPTED_FROM_MS }, io);
        if (found !== null) return found;
        throw new PlatformFault("ambiguous", "Facebook says that it already has the post.", { cause: error });
      }
    },
    reconcile: (context) => reconcilePost({ post, photos }, io, context),
  });
}

/** How far back a post may lie that Facebook takes for the same. */
const ADOPTED_FROM_MS = 2 * 60 * 60_000;

function placeOf({ metadata: { locationId } }: FacebookPost): JsonObject {
  return locationId === undefined ? {} : { place: locationId };
}

function contentOf(post: FacebookPost, photos: readonly string[]): JsonObject {
  const { caption, metadata } = post;
  return {
    ...placeOf(post),
    ...(metadata.background === undefined ? {} : { text_format_preset_id: metadata.background }),
    ...(caption === null ? {} : { message: caption }),
    ...(metadata.link === undefined ? {} : { link: metadata.link }),
    ...(photos.length === 0 ? {} : { attached_media: photos.map((id) => ({ media_fbid: id })) }),
  };
}

function fieldsOf(timing: Timing): JsonObject {
  if (!timing.isScheduled) return { published: true };
  return { published: false, scheduled_publish_time: timing.at, unpublished_content_type: "SCHEDULED" };
}

const State = z.looseObject({ is_published: z.boolean() });

/** Whether a post is public; null where it is gone. */
async function readPost(io: PlatformIo, id: string): Promise<{ isPublished: boolean } | null> {
  const answer = await askPageOrGone(io, { path: id, query: { fields: "is_published" } }, State);
  return answer === null ? null : { isPublished: answer.is_published };
}
