import * as z from "zod";
import type { MediaItem } from "../../ports/media.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { Blob, sendBlob, uploadOnce, type Sending } from "./blob.ts";
import { didOf, pdsOf } from "./session.ts";
import { ownXrpc, XrpcFault, xrpc, type XrpcCall } from "./xrpc.ts";

const BLUESKY_VIDEO = "https://video.bsky.app";
const POLL_MS = 3_000;
/** Bluesky processes three minutes of video in well under one. */
const MAX_POLLS = 200;
const SERVICE_AUTH_SECONDS = 30 * 60;

/** The video is being processed: nothing to do but to ask again. */
export class StillProcessing extends Error {
  readonly checkAgainMs = POLL_MS;
}

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
export async function sendVideo(item: MediaItem, to: Sending): Promise<Blob> {
  const { sizeBytes, mimeType } = item.facts;
  const service = serviceOf(to.io);
  if (service === null) return sendBlob(to, item.url, { mimeType, sizeBytes, body: () => item.open() });
  if (to.isAgain) return waitFor(to.io, service, await startJob(item, to.io, service));

  // The service knows a video by its bytes too: a second upload is answered with the first one's job.
  const stored = await uploadOnce(to, item.url, async () => {
    const started = await startJob(item, to.io, service);
    return { jobId: started.jobId, blob: started.blob ?? null };
  });
  const job = z.object({ jobId: z.string(), blob: Blob.nullable() }).parse(stored);
  const blob = job.blob ?? finished(await readJob(to.io, service, job.jobId));
  if (blob === null) throw new StillProcessing("The video is being processed.");
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
    if (error.code === "unconfirmed_email") {
      throw new PlatformFault(
        "rejected",
        "Bluesky takes videos only from accounts with a confirmed e-mail address. Confirm it in Bluesky's settings.",
        {
          cause: error,
        },
      );
    }
    if (error.kind !== "auth") throw error;
    throw new PlatformFault(
      "rejected",
      "Bluesky's video service refused the account. Check in Bluesky that it may post videos.",
      {
        cause: error,
      },
    );
  }
}

/**
 * A token with which the video service may store the finished video on the account's server, and nothing
 * else.
 */
async function serviceToken(io: PublishIo): Promise<string> {
  const base = pdsOf(io);
  const { did } = await xrpc(
    io,
    { base, nsid: "com.atproto.server.describeServer" },
    z.looseObject({ did: z.string() }),
  );
  const params = {
    aud: did,
    lxm: "com.atproto.repo.uploadBlob",
    exp: String(Math.floor(io.now() / 1_000) + SERVICE_AUTH_SECONDS),
  };
  const answer = await ownXrpc(
    io,
    { base, nsid: "com.atproto.server.getServiceAuth", params },
    z.looseObject({ token: z.string() }),
  );
  return answer.token;
}
