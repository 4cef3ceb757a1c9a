import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { placeFilm, StillProcessing } from "./film.ts";
import { placeOnFeed, readPost } from "./feed.ts";
import { Placed } from "./find.ts";
import { readFilm } from "./film-status.ts";
import { followUp } from "./follow-ups.ts";
import { askPage, pageOf } from "./graph.ts";
import { checkPost, filmKindOf, mediaOf, type FacebookPost } from "./metadata.ts";
import { FLIP_AFTER_MS, TooNear } from "./schedule.ts";

const Plan = z.enum(["feed", "reel", "video"]);
export type Plan = z.infer<typeof Plan>;

export async function publish(post: FacebookPost, io: PublishIo): Promise<PublishOutcome> {
  const plan = Plan.parse(await io.once("plan", () => planOf(post, io)));
  try {
    // What is placed needs its media no more, and nobody asks whether they are there still.
    const placed = Placed.nullable().parse(io.resultOf("post")) ?? (await place(post, plan, io));
    const at = liveAt(placed, plan, io);
    const seen = await look({ post, plan, placed }, io);
    if (seen === "waiting") return { state: "held", ...at };
    if (seen === "draft") return { state: "held", ...at, checkAgainMs: 5 * MINUTE, note: DRAFT_NOTE };
    await io.live(at);
    await followUp({ post, plan, id: placed.id }, io);
    return { state: "live", ...at };
  } catch (error) {
    if (error instanceof TooNear) return { state: "prepared" };
    if (error instanceof StillProcessing) return { state: "processing", checkAgainMs: error.checkAgainMs };
    throw error;
  }
}

/** All media are looked at before anything is sent, so that what cannot be posted is refused as a whole. */
async function planOf(post: FacebookPost, io: PublishIo): Promise<Plan> {
  const facts = new Map<string, Awaited<ReturnType<typeof io.media.item>>["facts"]>();
  for (const { url, altText } of mediaOf(post)) facts.set(url, (await io.media.item(url, altText)).facts);
  const { errors } = checkPost(post, { media: facts });
  if (errors.length > 0) throw new AppError("invalid", errors.join(" "));
  const film = facts.get(post.mediaUrl);
  return film?.type === "video" ? filmKindOf(post, film) : "feed";
}

function place(post: FacebookPost, plan: Plan, io: PublishIo): Promise<Placed> {
  return plan === "feed" ? placeOnFeed(post, io) : placeFilm({ post, kind: plan }, io);
}

function liveAt({ id }: Placed, plan: Plan, io: PublishIo): LiveAt & { readonly platformPostId: string } {
  const site = "https://www.facebook.com";
  const path = { feed: id, reel: `reel/${id}`, video: `${pageOf(io)}/videos/${id}` }[plan];
  return { platformPostId: id, platformUrl: `${site}/${path}` };
}

interface Hung {
  readonly post: FacebookPost;
  readonly plan: Plan;
  readonly placed: Placed;
}

/**
 * Facebook takes vertical films in as drafts now and then, though they were published, and asks a person to share
 * them: https://github.com/gitroomhq/postiz-app/pull/1740
 */
const DRAFT_NOTE =
  "Facebook keeps the film as a draft, as it does with some vertical films. Publish it in Meta Business Suite, or in the Facebook app.";

/** `out`: everybody can see it; `draft`: a person must publish it. Throws StillProcessing while nobody can tell. */
async function look(hung: Hung, io: PublishIo): Promise<"out" | "waiting" | "draft"> {
  const { post, plan, placed } = hung;
  if (plan === "feed" && !placed.isScheduled) return "out";
  if (plan === "feed" && !io.isDue) return "waiting";
  const film = plan === "feed" ? null : await readFilm(io, placed.id);
  const state = plan === "feed" ? await readPost(io, placed.id) : film;
  if (state === null) throw new PlatformFault("rejected", GONE_SENTENCE);
  if (film !== null && film.fault !== null) throw film.fault;
  if (state.isPublished && io.isDue) return "out";
  const isReadyVideo = plan === "video" && film !== null && film.isReady;
  if (film !== null && (!placed.isScheduled || !io.isDue)) {
    if (placed.isScheduled && film.isReady) return "waiting";
    const isDraft = isReadyVideo && io.now() >= (await io.once("ready", () => io.now())) + FLIP_AFTER_MS;
    if (isDraft) return "draft";
    throw new StillProcessing();
  }
  if (io.now() < post.scheduledAt + FLIP_AFTER_MS) return "waiting";
  await publishNow(hung, io);
  return isReadyVideo ? "draft" : "waiting";
}

const GONE_SENTENCE = "It is not on Facebook any more. It was deleted there before its time. Send it again.";

/** Its time is over for a while and Facebook has not published it. */
async function publishNow({ plan, placed }: Hung, io: PublishIo): Promise<void> {
  const json: JsonObject = plan === "feed" ? { is_published: true } : { published: true };
  await askPage(io, { method: "POST", path: placed.id, json, isIdempotent: true }, z.looseObject({}));
}
