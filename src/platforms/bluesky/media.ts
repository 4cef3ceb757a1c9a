import type { Readable } from "node:stream";
import { fromString } from "@atcute/cid";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { type Json, type JsonObject, type PlatformAccount, PlatformFault } from "../../ports/platform-io.ts";
import { readableBy } from "../../ports/platform-values.ts";
import { type PublishIo, StillProcessing } from "../../ports/publish-io.ts";
import { inOrder, openAll } from "../shared/media.ts";
import { repeatableStep } from "../shared/reconcile.ts";
import { readSubtitles } from "../shared/subtitles.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { didOf, ownXrpc, pdsOf, xrpc, type XrpcCall, XrpcFault } from "./api.ts";
import { type BlueskyMetadata, MAX_IMAGES, SUBTITLES_LIMITS } from "./metadata.ts";
import type { Part } from "../shared/thread.ts";

/** A blob as records name it: its id is the hash of its bytes. */
const Blob = z.object({
  $type: z.literal("blob"),
  ref: z.object({ $link: z.string().max(200).refine(readableBy(fromString), "is not a content id") }),
  mimeType: z.string(),
  size: z.int(),
});
type Blob = z.infer<typeof Blob>;

/** How media is sent: once and under the protocol, or all over again because the server has dropped it. */
interface Sending {
  readonly io: PublishIo;
  /** Part and place, unique in the post. */
  readonly name: string;
  readonly isAgain: boolean;
}

/** A file on the account's own server, named by the hash of its bytes. */
async function sendBlob(to: Sending, url: string, upload: Upload): Promise<Blob> {
  const send = (): Promise<Blob> => uploadBlob(to.io, upload);
  if (to.isAgain) return send();
  return Blob.parse(await repeatableStep<Json>(to.io, { step: `upload ${to.name}`, request: { url }, send }));
}

interface Upload {
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The bytes; a fresh stream for each try. */
  readonly body: Buffer | (() => Readable);
}

async function uploadBlob(io: PublishIo, upload: Upload): Promise<Blob> {
  const call = {
    base: pdsOf(io),
    nsid: "com.atproto.repo.uploadBlob",
    headers: { "content-type": upload.mimeType, "content-length": String(upload.sizeBytes) },
    body: upload.body,
    isIdempotent: true,
    ...UPLOAD_TIMES,
  };
  const { blob } = await ownXrpc(io, call, z.looseObject({ blob: Blob }));
  if (blob.size === upload.sizeBytes) return blob;
  throw new PlatformFault("transient", "Bluesky received a file only in part.");
}

/** Its apps show no more than 2000 pixels. */
export const IMAGE_LIMITS = {
  maxBytes: 1_000_000,
  mimeTypes: ["image/jpeg", "image/png", "image/webp"],
  maxWidth: 2_000,
  maxHeight: 2_000,
} as const satisfies ImageLimits;

/**
 * Since April 2026 a picture of a post may have 2 MB
 * (https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/embed/images.json). Servers hold records to
 * the lexicon that they came with, and only those of Bluesky itself are known to be new.
 */
export function imageLimitsOf({ settings }: Pick<PlatformAccount, "settings">): ImageLimits {
  const host = parseUrl(String(settings["pdsUrl"] ?? ""))?.host ?? "";
  const maxBytes = /(?:^|\.)(?:bsky\.social|host\.bsky\.network)$/.test(host)
    ? 2_000_000
    : IMAGE_LIMITS.maxBytes;
  return { ...IMAGE_LIMITS, maxBytes };
}

/** Media as a part's embed shows it. */
type EmbedItem = {
  readonly kind: "image" | "video";
  readonly blob: Blob;
  readonly altText: string;
  readonly width: number | null;
  readonly height: number | null;
};

/** Brings a part's media to the account's server and gives the embed that shows it; null without media. */
export async function sendMedia(
  part: Part,
  film: Pick<BlueskyMetadata, "subtitles" | "presentation">,
  to: { io: PublishIo; name: string; isAgain: boolean },
): Promise<JsonObject | null> {
  const items = await openPart(part, to.io);
  const isFilm = items[0]?.facts.type === "video";
  const { presentation = items[0]?.convertedFrom === "image/gif" ? "gif" : undefined } = film;
  const subtitles = isFilm ? await readSubtitles(film, to.io, SUBTITLES_LIMITS) : [];
  const shown = await inOrder(items, (item, at) => sendOne(item, { ...to, name: `${to.name}.${at + 1}` }));
  const captions = await inOrder(subtitles, async ({ url, language, bytes }, at): Promise<JsonObject> => {
    const upload = { mimeType: "text/vtt", sizeBytes: bytes.length, body: bytes };
    return { lang: language, file: await sendBlob({ ...to, name: `subtitles ${at + 1}` }, url, upload) };
  });
  const embed = embedOf(shown);
  if (embed === null || !isFilm) return embed;
  return {
    ...embed,
    ...(captions.length === 0 ? {} : { captions }),
    ...(presentation === undefined ? {} : { presentation }),
  };
}

/** Opens all of a part's media before anything is sent: what cannot be posted is refused as a whole. */
async function openPart(part: Part, io: PublishIo): Promise<MediaItem[]> {
  const items = await openAll(part.media, io);
  const problem = problemOf(items.map(({ facts }) => facts));
  if (problem === null) return items;
  throw new AppError("invalid", problem);
}

function problemOf(files: readonly MediaItem["facts"][]): string | null {
  if (files.some(({ type }) => type !== "image" && type !== "video"))
    return "mediaUrl: Bluesky takes pictures and videos, and this is neither. Use a JPEG, PNG, WebP or an MP4.";
  const videos = files.filter(({ type }) => type === "video");
  if (videos.length > 0 && files.length > 1)
    return "metadata.moreMedia: a Bluesky post shows one video, or up to four pictures. Leave the rest out or use metadata.thread.";
  if (videos.some(({ mimeType }) => mimeType !== "video/mp4"))
    return "mediaUrl: Bluesky takes videos as MP4 only. Convert it and schedule the post again.";
  return files.length > MAX_IMAGES
    ? `metadata.moreMedia: a Bluesky post shows at most ${MAX_IMAGES} pictures. Leave the rest out or use metadata.thread.`
    : null;
}

async function sendOne(item: MediaItem, to: Sending): Promise<EmbedItem> {
  const altText = item.altText ?? "";
  if (item.facts.type === "video") {
    const { width, height } = item.facts;
    return { kind: "video", blob: await sendVideo(item, to), altText, width, height };
  }
  const { blob, width, height } = await sendImage(item, imageLimitsOf(to.io.account), to);
  return { kind: "image", blob, altText, width, height };
}

/** The picture, fitted to the limits; also that of a link card, which may have `IMAGE_LIMITS`. */
export async function sendImage(
  item: MediaItem,
  limits: ImageLimits,
  to: Sending,
): Promise<{ blob: Blob; width: number; height: number }> {
  const { bytes, mimeType, width, height } = await to.io.media.fitImage(item, limits);
  const blob = await sendBlob(to, item.url, { mimeType, sizeBytes: bytes.length, body: bytes });
  return { blob, width, height };
}

function embedOf(shown: readonly EmbedItem[]): JsonObject | null {
  const [first] = shown;
  if (first === undefined) return null;
  if (first.kind === "video") {
    return {
      $type: "app.bsky.embed.video",
      video: first.blob,
      ...(first.altText === "" ? {} : { alt: first.altText }),
      ...aspectRatio(first),
    };
  }
  const images = shown.map((image) => ({ alt: image.altText, image: image.blob, ...aspectRatio(image) }));
  return { $type: "app.bsky.embed.images", images };
}

function aspectRatio({ width, height }: EmbedItem): JsonObject {
  return width === null || height === null || width < 1 || height < 1
    ? {}
    : { aspectRatio: { width, height } };
}

const BLUESKY_VIDEO = "https://video.bsky.app";
const POLL_MS = 3_000;
/** Bluesky processes three minutes of video in well under one. */
const MAX_POLLS = 200;
const SERVICE_AUTH_SECONDS = 30 * 60;

const Job = z.looseObject({
  jobId: z.string().default(""),
  state: z.string().default(""),
  blob: Blob.optional(),
  failureCode: z.string().optional(),
});
type Job = z.infer<typeof Job>;

/** The lexicon wraps the status, the service was seen to send it bare. */
const JobAnswer = z.union([z.looseObject({ jobStatus: Job }).transform((answer) => answer.jobStatus), Job]);

/**
 * Bluesky's video service processes the video, so that it plays from the post's first moment. Where there is
 * none (another network, a server on a private address), the account's own server takes the file as it is.
 */
function serviceOf(io: PublishIo): string | null {
  const isElsewhere = io.setting("BASE_URL") !== null || !pdsOf(io).startsWith("https:");
  return io.setting("VIDEO_URL") ?? (isElsewhere ? null : BLUESKY_VIDEO);
}

/** Throws StillProcessing until the service is done, except in a second sending, which waits. */
async function sendVideo(item: MediaItem, to: Sending): Promise<Blob> {
  const { sizeBytes, mimeType } = item.facts;
  const service = serviceOf(to.io);
  if (service === null) return sendBlob(to, item.url, { mimeType, sizeBytes, body: () => item.open() });
  if (to.isAgain) return waitFor(to.io, service, await startJob(item, to.io, service));

  // The service knows a video by its bytes too: a second upload is answered with the first one's job.
  const stored = await repeatableStep<Json>(to.io, {
    step: `upload ${to.name}`,
    request: { url: item.url },
    send: async () => {
      const { jobId, blob = null } = await startJob(item, to.io, service);
      return { jobId, blob };
    },
  });
  const job = z.object({ jobId: z.string(), blob: Blob.nullable() }).parse(stored);
  const blob = job.blob ?? finished(await readJob(to.io, service, job.jobId));
  if (blob === null) throw new StillProcessing(POLL_MS);
  return blob;
}

async function waitFor(io: PublishIo, service: string, started: Job): Promise<Blob> {
  let job = started;
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const blob = finished(job);
    if (blob !== null) return blob;
    await io.sleep(POLL_MS);
    job = await readJob(io, service, job.jobId);
  }
  throw new PlatformFault("transient", "Bluesky's video service takes too long.");
}

/** Looks for the blob first: the service answers with it even beside an error. */
function finished(job: Job): Blob | null {
  if (job.blob !== undefined) return job.blob;
  if (job.state !== "JOB_STATE_FAILED") return null;
  const code = /^[a-z_]{1,60}$/.test(job.failureCode ?? "") ? ` (${job.failureCode})` : "";
  throw new PlatformFault(
    "rejected",
    `Bluesky could not process the video${code}. Check that it is a playable MP4 within the limits.`,
  );
}

async function startJob(item: MediaItem, io: PublishIo, service: string): Promise<Job> {
  const token = await serviceToken(io);
  return callService(io, {
    base: service,
    nsid: "app.bsky.video.uploadVideo",
    params: { did: didOf(io), name: "video.mp4" },
    token,
    headers: { "content-type": item.facts.mimeType, "content-length": String(item.facts.sizeBytes) },
    body: () => item.open(),
    isIdempotent: true,
    ...UPLOAD_TIMES,
  });
}

function readJob(io: PublishIo, service: string, jobId: string): Promise<Job> {
  return callService(io, { base: service, nsid: "app.bsky.video.getJobStatus", params: { jobId } });
}

/** The service's own refusals are no reason to sign in anew, and an `already_exists` is an answer. */
async function callService(io: PublishIo, call: XrpcCall): Promise<Job> {
  try {
    return await xrpc(io, call, JobAnswer);
  } catch (error) {
    if (!(error instanceof XrpcFault)) throw error;
    const answer = JobAnswer.safeParse(error.answer);
    if (answer.success && (answer.data.blob !== undefined || answer.data.jobId !== "")) return answer.data;
    if (error.code !== "unconfirmed_email" && error.kind !== "auth") throw error;
    throw new PlatformFault(
      "rejected",
      error.code === "unconfirmed_email"
        ? "Bluesky takes videos only from accounts with a confirmed e-mail address. Confirm it in Bluesky's settings."
        : "Bluesky's video service refused the account. Check in Bluesky that it may post videos.",
      { cause: error },
    );
  }
}

/** With it the video service may store the finished video on the account's server, and nothing else. */
async function serviceToken(io: PublishIo): Promise<string> {
  const base = pdsOf(io);
  const server = { base, nsid: "com.atproto.server.describeServer" };
  const { did: aud } = await xrpc(io, server, z.looseObject({ did: z.string() }));
  const exp = String(Math.floor(io.now() / 1_000) + SERVICE_AUTH_SECONDS);
  const params = { aud, lxm: "com.atproto.repo.uploadBlob", exp };
  const auth = { base, nsid: "com.atproto.server.getServiceAuth", params };
  return (await ownXrpc(io, auth, z.looseObject({ token: z.string() }))).token;
}
