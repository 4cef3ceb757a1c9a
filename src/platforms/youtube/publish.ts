import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { HOUR, MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type FaultKind, type Json } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { watchUrl } from "./api.ts";
import { checkPost } from "./check.ts";
import { addToPlaylist, setThumbnailAhead, setThumbnailOnce } from "./extras.ts";
import { visibilityOf, type YoutubePost } from "./metadata.ts";
import { upload, type Uploaded } from "./upload.ts";
import { findVideo, standingOf, type Standing } from "./video.ts";
import { changeVisibility } from "./visibility.ts";

/** YouTube flips within so long after the time; before we do. */
const FLIPS_WITHIN_MS = 10 * SECOND;

/** A video that YouTube works on for longer than this is shown all the same: in its first qualities. */
const PROCESSING_PATIENCE_MS = 15 * MINUTE;

/** How long a new video may not be found yet. */
const APPEARS_WITHIN_MS = 10 * MINUTE;

const LOOK_AGAIN_MS = 5 * SECOND;
/** After trouble. */
const ASK_AGAIN_MS = 20 * SECOND;

/** Faults that say nothing about the video, which is on YouTube and may well be public by itself. */
const PASSING: readonly FaultKind[] = ["not_sent", "transient", "ambiguous", "rate", "setup", "rejected"];

const STAYS_PRIVATE =
  "The video is on YouTube, but YouTube keeps it private although its time has come. It does so with all " +
  "uploads of a Google Cloud project that has not passed YouTube's audit: ask for it at " +
  "https://support.google.com/youtube/contact/yt_api_form, and look at the video in YouTube Studio.";

/** Uploads the film in private, and makes it what it is to be at its time, where YouTube does not by itself. */
export async function publish(post: YoutubePost, io: PublishIo): Promise<PublishOutcome> {
  const [problem] = checkPost(post).errors;
  if (problem !== undefined) throw new AppError("invalid", problem);
  const uploaded = await upload(post, io);
  const at = { platformPostId: uploaded.id, platformUrl: watchUrl(uploaded.id) };
  if (!io.isDue) await setThumbnailAhead(post, io, uploaded.id);

  const next = await look(post, io, uploaded);
  if (next !== "shown") return { state: "held", ...at, ...next };
  await io.live(at);
  if (post.metadata.thumbnailUrl !== undefined)
    await io.extra("The thumbnail", () => setThumbnailOnce(post, io, uploaded.id));
  if (post.metadata.playlistId !== undefined)
    await io.extra("The playlist", () => addToPlaylist(post, io, uploaded.id));
  return { state: "live", ...at };
}

/** What a video that is private still waits for. */
interface Hidden {
  readonly checkAgainMs?: number;
  readonly note?: string;
}

/**
 * Trouble with asking about the video is no trouble of the post's: it is there, and nothing may upload it a
 * second time. Throws `auth`, and `rejected` for a video that YouTube could not use.
 */
async function look(post: YoutubePost, io: PublishIo, uploaded: Uploaded): Promise<"shown" | Hidden> {
  let standing: Standing | null;
  try {
    const video = await findVideo(io, uploaded.id, "status,processingDetails");
    standing = video === null ? null : standingOf(video);
    const isUsable = standing !== null && standing.state !== "failed" && standing.state !== "deleted";
    if (standing !== null && isUsable) return await judge(post, io, { uploaded, standing });
  } catch (error) {
    if (!(error instanceof PlatformFault) || !PASSING.includes(error.kind)) throw error;
    io.log.warn({ postId: post.id, err: error }, "a video could not be asked about");
    const soonMs = io.isDue ? ASK_AGAIN_MS : lookAheadMs(io.now() - uploaded.at);
    return { checkAgainMs: error.retryAfterMs ?? soonMs, note: error.message };
  }
  if (standing?.state === "failed") throw new PlatformFault("rejected", standing.reason);
  const sinceMs = io.now() - uploaded.at;
  if (standing === null && sinceMs < APPEARS_WITHIN_MS) return { checkAgainMs: lookAheadMs(sinceMs) };
  throw new PlatformFault(
    "rejected",
    "The video is not on YouTube any more: it was deleted there. Call retry_post to upload it again.",
  );
}

interface Looked {
  readonly uploaded: Uploaded;
  readonly standing: Standing;
}

async function judge(
  post: YoutubePost,
  io: PublishIo,
  { uploaded, standing }: Looked,
): Promise<"shown" | Hidden> {
  const lateMs = io.now() - Math.max(post.scheduledAt, uploaded.at);
  const isProcessing = standing.state === "processing";
  if (!io.isDue) return isProcessing ? { checkAgainMs: lookAheadMs(io.now() - uploaded.at) } : {};
  const wanted = visibilityOf(post);
  const isShown = standing.privacy !== "private" || wanted === "private";
  if (isProcessing && lateMs < PROCESSING_PATIENCE_MS) return { checkAgainMs: LOOK_AGAIN_MS };
  if (isShown) return shown(io);
  if (standing.isScheduled && lateMs < FLIPS_WITHIN_MS) return { checkAgainMs: LOOK_AGAIN_MS };
  return flip(io, uploaded, wanted);
}

/** A video that is worked on for hours is asked about the more seldom. */
function lookAheadMs(sinceMs: number): number {
  return Math.max(15 * SECOND, Math.round(sinceMs / 4));
}

const Flipped = z.object({ privacy: z.string(), refusal: z.string() });

/** Once: what YouTube refused, or did not do without a word, it would refuse again. */
async function flip(io: PublishIo, { id }: Uploaded, wanted: string): Promise<"shown" | Hidden> {
  const told = await io.effect<Json>({
    step: "publish",
    request: { id, wanted },
    send: () => changeVisibility(io, id, wanted),
    settle: async () => ({ outcome: "send_again" }),
  });
  const { privacy, refusal } = Flipped.parse(told);
  if (privacy === wanted) return shown(io);
  if (!isKnownToBeKept(io)) await io.remember({ keptPrivateAt: toIso(io.now()) });
  return { checkAgainMs: HOUR, note: refusal === "" ? STAYS_PRIVATE : refusal };
}

async function shown(io: PublishIo): Promise<"shown"> {
  if (isKnownToBeKept(io)) await io.remember({ keptPrivateAt: null });
  return "shown";
}

/** That YouTube kept a video private is told with the channel and with its next posts. */
function isKnownToBeKept({ account }: PublishIo): boolean {
  return typeof account.settings["keptPrivateAt"] === "string";
}
