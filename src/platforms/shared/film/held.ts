import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import { HOUR, SECOND } from "../../../domain/time.ts";
import { type FittedImage, type ImageLimits, MediaUnavailable } from "../../../ports/media.ts";
import { type FaultKind, type Json, PlatformFault } from "../../../ports/platform-io.ts";
import type { PlatformPost, PublishOutcome } from "../../../ports/platform.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import { asRetryable, throwNotSent } from "../faults.ts";
import type { UploadedVideo } from "./sessions.ts";

/** A platform flips what it has a time of within so long after it; before we do. */
const FLIPS_WITHIN_MS = 10 * SECOND;

/** How long a new video may not be found yet. */
const APPEARS_WITHIN_MS = 10 * 60 * SECOND;

const LOOK_AGAIN_MS = 5 * SECOND;
/** After trouble. */
const ASK_AGAIN_MS = 20 * SECOND;

/** Faults that say nothing about the video, which is there and may well be public by itself. */
const PASSING: readonly FaultKind[] = ["not_sent", "transient", "ambiguous", "rate", "setup", "rejected"];

/** Where a video stands. */
export interface Standing {
  /** `processing`: uploaded, and not to be watched yet. */
  readonly state: "processing" | "ready" | "failed" | "deleted";
  /** In the platform's words; "" where it was not told. */
  readonly privacy: string;
  /** It is to become public by itself. */
  readonly isScheduled: boolean;
  /** Why it failed, in a sentence; "" where it did not. */
  readonly reason: string;
  /** What keeps it from being seen although it is not private, in a sentence; left out: nothing does. */
  readonly isKept?: string;
  /** Where people look at it, where that changes with who sees it. */
  readonly url?: string;
}

/** A film that is brought onto the platform in private, and made what it is to be at its time. */
interface HeldFilm {
  readonly title: string;
  readonly post: Pick<PlatformPost, "id" | "scheduledAt">;
  /** What it is to be, and what is hidden from others, in the platform's words. */
  readonly wanted: string;
  readonly hidden: string;
  /** A film that is worked on for longer than this after its time is made public all the same. */
  readonly patienceMs: number;
  readonly thumbnail: Thumbnail;
  /** Told where the platform changes nothing without a word. */
  readonly staysHidden: string;
  upload(): Promise<UploadedVideo>;
  /** Null where it is not there. */
  look(id: string): Promise<Standing | null>;
  /** Changes who sees it; may be repeated. What the platform tells afterwards. */
  flip(id: string, wanted: string): Promise<Pick<Standing, "privacy" | "url">>;
  /** Whether the film is what it is to be, or was kept from it; told after each look that shows it. */
  after?(isShown: boolean): Promise<void>;
  /** What it gets before it is public, where there is time, and else once it is. Steps that may be repeated. */
  ahead?(id: string): Promise<void>;
  /** What follows once it is public. */
  followUps?(id: string): Promise<void>;
}

/** Uploads the film in private, and makes it what it is to be at its time, where that does not come by itself. */
export async function publishHeld(io: PublishIo, film: HeldFilm): Promise<PublishOutcome> {
  const uploaded = await film.upload();
  const { id } = uploaded;
  if (!io.isDue) await prepareAhead(io, id, film);

  const next = await look(io, film, uploaded);
  const { state, url = uploaded.url, ...waits } = next;
  const at = { platformPostId: id, platformUrl: url };
  if (state === "held") return { state, ...at, ...waits };
  await io.live(at);
  if (film.thumbnail.url !== undefined)
    await io.followUp("The thumbnail", () => setThumbnailOnce(io, id, film.thumbnail));
  await film.followUps?.(id);
  return { state, ...at };
}

/** A video that is what it is to be, or what one that is private still waits for. */
interface VideoOutcome {
  readonly state: "live" | "held";
  readonly url?: string;
  readonly checkAgainMs?: number;
  readonly note?: string;
}

/**
 * Trouble with asking about the video is no trouble of the post's: it is there, and nothing may upload it a
 * second time. Throws `auth`, and `rejected` for a video that the platform could not use.
 */
async function look(io: PublishIo, film: HeldFilm, uploaded: UploadedVideo): Promise<VideoOutcome> {
  let standing: Standing | null;
  try {
    standing = await film.look(uploaded.id);
    const isUsable = standing !== null && standing.state !== "failed" && standing.state !== "deleted";
    if (standing !== null && isUsable) return await judge(io, film, { uploaded, standing });
  } catch (error) {
    if (!(error instanceof PlatformFault) || !PASSING.includes(error.kind)) throw error;
    io.log.warn({ postId: film.post.id, err: error }, "a video could not be asked about");
    const soonMs = io.isDue ? ASK_AGAIN_MS : lookAheadMs(io.now() - uploaded.at);
    return { state: "held", checkAgainMs: error.retryAfterMs ?? soonMs, note: error.message };
  }
  if (standing?.state === "failed") throw new PlatformFault("rejected", standing.reason);
  const sinceMs = io.now() - uploaded.at;
  if (standing === null && sinceMs < APPEARS_WITHIN_MS) return held(lookAheadMs(sinceMs));
  throw new PlatformFault(
    "rejected",
    `The video is not on ${film.title} any more. It was deleted there. Send the post again.`,
  );
}

interface CheckedVideo {
  readonly uploaded: UploadedVideo;
  readonly standing: Standing;
}

async function judge(
  io: PublishIo,
  film: HeldFilm,
  { uploaded, standing }: CheckedVideo,
): Promise<VideoOutcome> {
  const lateMs = io.now() - Math.max(film.post.scheduledAt, uploaded.at);
  const isProcessing = standing.state === "processing";
  if (!io.isDue) return isProcessing ? held(lookAheadMs(io.now() - uploaded.at)) : { state: "held" };
  const isShown = standing.privacy !== film.hidden || film.wanted === film.hidden;
  if (isProcessing && lateMs < film.patienceMs) return held(Math.max(LOOK_AGAIN_MS, Math.round(lateMs / 20)));
  if (isShown && standing.isKept !== undefined) return kept(standing.isKept);
  if (isShown) return shown(film, standing.url);
  if (standing.isScheduled && lateMs < FLIPS_WITHIN_MS) return held(LOOK_AGAIN_MS);
  return flip(io, film, { uploaded, standing });
}

/** A video that is worked on for hours is asked about the more seldom. */
function lookAheadMs(sinceMs: number): number {
  return Math.max(15 * SECOND, Math.round(sinceMs / 4));
}

const Flipped = z.object({ privacy: z.string(), refusal: z.string(), url: z.string().optional() });

/** Once: what was refused, or not done without a word, would be refused again. */
async function flip(
  io: PublishIo,
  film: HeldFilm,
  { uploaded: { id }, standing: { isKept } }: CheckedVideo,
): Promise<VideoOutcome> {
  const { wanted, hidden } = film;
  const told = await io.effect<Json>({
    step: "publish",
    request: { id, wanted },
    send: async () => {
      try {
        return { ...(await film.flip(id, wanted)), refusal: "" };
      } catch (error) {
        if (error instanceof PlatformFault && error.kind === "rejected")
          return { privacy: hidden, refusal: error.message };
        throw asRetryable(error);
      }
    },
    reconcile: async () => ({ outcome: "send_again" }),
  });
  const { privacy, refusal, url } = Flipped.parse(told);
  if (privacy === wanted) return isKept === undefined ? shown(film, url) : kept(isKept);
  await film.after?.(false);
  return kept(refusal === "" ? film.staysHidden : refusal);
}

function kept(note: string): VideoOutcome {
  return { state: "held", checkAgainMs: HOUR, note };
}

function held(checkAgainMs: number): VideoOutcome {
  return { state: "held", checkAgainMs };
}

async function shown(film: HeldFilm, url: string | undefined): Promise<VideoOutcome> {
  await film.after?.(true);
  return { state: "live", ...(url === undefined ? {} : { url }) };
}

export type Picture = Pick<FittedImage, "bytes" | "mimeType">;

/** The picture in front of a film, on a platform that replaces what stood there. */
export interface Thumbnail {
  /** As the post has it; undefined where it has none. */
  readonly url: string | undefined;
  readonly limits: ImageLimits;
  /** May be repeated. */
  send(id: string, picture: Picture): Promise<void>;
}

/** Throws AppError `invalid` for what is no picture, or a damaged one. */
export async function sendThumbnail(
  io: Pick<PublishIo, "media">,
  id: string,
  { url, limits, send }: Thumbnail & { readonly url: string },
): Promise<void> {
  await send(id, await io.media.fitImage(await io.media.item(url), limits));
}

/** As a step of the post: it is set once, however often the post is worked on. */
async function setThumbnailOnce(io: PublishIo, id: string, thumbnail: Thumbnail): Promise<void> {
  const { url, limits, send } = thumbnail;
  if (url === undefined || io.resultOf("thumbnail") !== null) return;
  const picture = await io.media.fitImage(await io.media.item(url), limits);
  await io.effect<true>({
    step: "thumbnail",
    request: { id, thumbnailUrl: url },
    send: async () => {
      await send(id, picture).catch(throwNotSent);
      return true;
    },
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

/**
 * So that the film has all of it when it becomes public; each is tried once. What does not work now is tried
 * again, and told, once the post is live.
 */
async function prepareAhead(io: PublishIo, id: string, { thumbnail, ahead }: HeldFilm): Promise<void> {
  if (thumbnail.url !== undefined)
    await tryAhead(io, "thumbnail ahead", () => setThumbnailOnce(io, id, thumbnail));
  if (ahead !== undefined) await tryAhead(io, "ahead", () => ahead(id));
}

async function tryAhead(io: PublishIo, name: string, work: () => Promise<void>): Promise<void> {
  await io.once(name, async () => {
    try {
      await work();
      return true;
    } catch (error) {
      if (![PlatformFault, AppError, MediaUnavailable].some((kind) => error instanceof kind)) throw error;
      io.log.info({ err: error }, `${name}: it did not work`);
      return false;
    }
  });
}
