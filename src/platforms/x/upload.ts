import { inOrder, openAll } from "../shared/media.ts";
import type { Readable } from "node:stream";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault } from "../../ports/platform-io.ts";
import { type EffectContext, type PublishIo, StillProcessing } from "../../ports/publish-io.ts";
import { naming } from "../shared/faults.ts";
import { readSubtitles, type WrittenSubtitles } from "../shared/subtitles.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { ask, Id, send } from "./api.ts";
import {
  ALONE,
  GIF_LIMITS,
  IMAGE_LIMITS,
  isAlone,
  languageOf,
  MAX_ALT_TEXT,
  MEDIA_LIFE_MS,
  MEDIA_MARGIN_MS,
  NO_VIDEO,
  partsOf,
  SUBTITLES_LIMITS,
  USUAL_VIDEO_SECONDS,
  type XPost,
} from "./metadata.ts";
import type { Part } from "../shared/thread.ts";

/** What of a post, or of one that follows it, is at X already. */
export interface SentMedia {
  readonly ids: readonly string[];
  /** Empty where X did not tell. */
  readonly keys: readonly string[];
  /** Of the picture before the video. */
  readonly thumbnailId: string | null;
}

/** Brings the media of all parts to X, in order. All are opened before the first is sent. */
export async function sendAllMedia(post: XPost, io: PublishIo): Promise<SentMedia[]> {
  const opened = await inOrder(partsOf(post), (part) => openPart(part, io));
  const { thumbnailUrl } = post.metadata;
  const isVideo = opened[0]?.[0]?.facts.type === "video";
  if (thumbnailUrl !== undefined && !isVideo) throw new AppError("invalid", NO_VIDEO);
  const subtitles = isVideo ? await readSubtitles(post.metadata, io, SUBTITLES_LIMITS) : [];
  return inOrder(opened, async (items, at) => {
    const uploads = await inOrder(items, (item, nth) => sendOne(item, `${at + 1}.${nth + 1}`, io));
    const thumbnailId =
      at === 0 && thumbnailUrl !== undefined
        ? (await sendOne(await io.media.item(thumbnailUrl), "thumbnail", io)).mediaId
        : null;
    const [first] = items;
    const [video] = uploads;
    if (at === 0 && first !== undefined && video !== undefined)
      for (const [nth, one] of subtitles.entries())
        await addSubtitles(io, one, { nth, videoId: video.mediaId, category: categoryOf(first) });
    const keys = uploads.flatMap(({ mediaKey }) => mediaKey ?? []);
    return { ids: uploads.map(({ mediaId }) => mediaId), keys, thumbnailId };
  });
}

async function openPart(part: Part, io: PublishIo): Promise<MediaItem[]> {
  const items = await openAll(part.media, io);
  if (items.length > 1 && items.some(({ facts }) => isAlone(facts))) throw new AppError("invalid", ALONE);
  return items;
}

async function sendOne(item: MediaItem, name: string, io: PublishIo): Promise<UploadedMedia> {
  const request = { url: item.url, sizeBytes: item.facts.sizeBytes };
  const media = await uploadOnce(io, { step: `media:${name}`, request, open: () => toUpload(item, io) });
  const altText = (item.altText ?? "").trim().slice(0, MAX_ALT_TEXT);
  if (altText !== "" && item.facts.type === "image")
    await describe(io, `alt:${name}`, {
      path: "/2/media/metadata",
      json: { id: media.mediaId, metadata: { alt_text: { text: altText } } },
    });
  return media;
}

function categoryOf({ facts }: MediaItem): VideoCategory {
  return (facts.durationSeconds ?? 0) > USUAL_VIDEO_SECONDS ? "amplify_video" : "tweet_video";
}

async function toUpload(item: MediaItem, io: PublishIo): Promise<Upload> {
  const { facts } = item;
  if (facts.type !== "image") {
    return {
      category: categoryOf(item),
      mimeType: facts.mimeType,
      sizeBytes: facts.sizeBytes,
      contentOf: ({ start, end, sizeBytes }) => ({ sizeBytes, open: () => item.open({ start, end }) }),
    };
  }
  const isMoving = isAlone(facts);
  const { bytes, mimeType } = await io.media.fitImage(item, isMoving ? GIF_LIMITS : IMAGE_LIMITS);
  return {
    category: isMoving ? "tweet_gif" : "tweet_image",
    mimeType,
    sizeBytes: bytes.length,
    contentOf: ({ start, end }) => ({ bytes: bytes.subarray(start, end + 1) }),
  };
}

interface OfVideo {
  readonly nth: number;
  readonly videoId: string;
  readonly category: VideoCategory;
}

/** https://docs.x.com/x-api/media/create-media-subtitles */
async function addSubtitles(io: PublishIo, one: WrittenSubtitles, of: OfVideo): Promise<void> {
  const { bytes, language, field } = one;
  const name = one.name ?? new Intl.DisplayNames(["en"], { type: "language" }).of(language) ?? language;
  await naming(field, async () => {
    const { mediaId } = await uploadOnce(io, {
      step: `subtitles:${of.nth + 1}`,
      request: { url: one.url, sizeBytes: bytes.length },
      open: async () => ({
        category: "subtitles",
        mimeType: "text/srt",
        sizeBytes: bytes.length,
        contentOf: ({ start, end }) => ({ bytes: bytes.subarray(start, end + 1) }),
      }),
    });
    await describe(io, `subtitled:${of.nth + 1}`, {
      path: "/2/media/subtitles",
      json: {
        id: of.videoId,
        media_category: of.category === "tweet_video" ? "TweetVideo" : "AmplifyVideo",
        subtitles: { id: mediaId, language_code: languageOf(language), display_name: name },
      },
    });
  });
}

interface Description {
  readonly path: "/2/media/metadata" | "/2/media/subtitles";
  readonly json: JsonObject;
}

/** The same words put under the same picture twice are there once. */
async function describe(io: PublishIo, step: string, { path, json }: Description): Promise<void> {
  await io.effect({
    step,
    request: json,
    send: async () => {
      await send(io, { method: "POST", path, json, isIdempotent: true });
      return null;
    },
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

const KiB = 1024;

/**
 * X's own examples send 1 MB (https://docs.x.com/x-api/media/quickstart/media-upload-chunked). What stands before
 * its API refuses larger ones now and then, 5 MB with 413 and no body
 * (https://github.com/trypostit/trypost/pull/31) or with 431 (https://github.com/abraham/twitteroauth/issues/1257).
 */
const SEGMENT_BYTES = 1024 * KiB;
const TOO_LARGE: readonly (number | null)[] = [413, 431];
/** What is refused is halved, no further than this, and as long as the file fits into so many. */
const MIN_SEGMENT_BYTES = 128 * KiB;
const MAX_SEGMENTS = 1_000;

type VideoCategory = "tweet_video" | "amplify_video";
type Category = "tweet_image" | "tweet_gif" | VideoCategory | "subtitles";

type Content = { readonly bytes: Buffer } | { readonly sizeBytes: number; open(): Readable };

/** Bytes of a file; `end` is the last one. */
interface Segment {
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
}

/** A file as it is sent. */
interface Upload {
  readonly category: Category;
  readonly mimeType: string;
  readonly sizeBytes: number;
  contentOf(segment: Segment): Content;
}

/** What X knows a file by, until it forgets it. */
const UploadedMedia = z.object({
  mediaId: z.string(),
  /** Names it in listings. */
  mediaKey: z.string().nullable(),
  /** Milliseconds since 1970. */
  expiresAt: z.number(),
  isProcessed: z.boolean(),
  /** From when on X may be asked whether it is; milliseconds since 1970. */
  askFrom: z.number().catch(0),
});
type UploadedMedia = z.infer<typeof UploadedMedia>;

/** An upload that was begun; `sentBytes` of it are there, in so many segments. */
const Session = z.object({
  mediaId: Id,
  mediaKey: z.string().nullable(),
  sentBytes: z.number(),
  segments: z.number(),
  segmentBytes: z.number(),
});
type Session = z.infer<typeof Session>;

const Begun = z.looseObject({
  data: z.looseObject({ id: Id, media_key: z.string().nullable().catch(null) }),
});
const Processing = z.looseObject({
  state: z.string().catch(""),
  check_after_secs: z.number().positive().nullable().catch(null),
});
const Ended = z.looseObject({
  data: z.looseObject({
    id: Id,
    media_key: z.string().nullable().catch(null),
    expires_after_secs: z.number().positive().nullable().catch(null),
    processing_info: Processing.nullable().catch(null),
  }),
});

/** As X says, within reason. What goes on for two hours the publisher ends. */
function waitMsOf({ check_after_secs: seconds }: z.infer<typeof Processing>): number {
  return Math.min(Math.max((seconds ?? 5) * SECOND, SECOND), 15 * MINUTE);
}

/** Sends a file once. It is not seen before a post names it, so it may be sent again. */
async function uploadOnce(
  io: PublishIo,
  { step, request, open }: { step: string; request: JsonObject; open(): Promise<Upload> },
): Promise<UploadedMedia> {
  const stored = await io.effect<JsonObject>({
    step,
    request,
    send: async (context) => ({ ...(await run(io, await open(), context)) }),
    reconcile: async () => ({ outcome: "send_again" }),
    isGone: async (result) => io.now() > UploadedMedia.parse(result).expiresAt - MEDIA_MARGIN_MS,
  });
  const media = UploadedMedia.parse(stored);
  if (!media.isProcessed) await io.once(`processed:${media.mediaId}`, () => assertProcessed(io, media));
  return media;
}

/** Goes on where it broke off; a session that X has forgotten is begun anew. */
async function run(io: PublishIo, upload: Upload, context: EffectContext): Promise<UploadedMedia> {
  const begun = Session.safeParse(context.handle);
  if (!begun.success) return append(io, upload, { context, session: await begin(io, upload) });
  try {
    return await append(io, upload, { context, session: begun.data });
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected" || isTooLarge(error)) throw error;
    return append(io, upload, { context, session: await begin(io, upload) });
  }
}

async function begin(io: PublishIo, { category, mimeType, sizeBytes }: Upload): Promise<Session> {
  const json = { media_category: category, media_type: mimeType, total_bytes: sizeBytes };
  const call = { method: "POST", path: "/2/media/upload/initialize", json, isIdempotent: true } as const;
  const { id: mediaId, media_key: mediaKey } = (await ask(io, call, Begun)).data;
  return { mediaId, mediaKey, sentBytes: 0, segments: 0, segmentBytes: SEGMENT_BYTES };
}

interface Running {
  readonly context: EffectContext;
  readonly session: Session;
}

async function append(io: PublishIo, upload: Upload, { context, session }: Running): Promise<UploadedMedia> {
  let at = session;
  await context.saveHandle(at);
  while (at.sentBytes < upload.sizeBytes) {
    const sizeBytes = Math.min(at.segmentBytes, upload.sizeBytes - at.sentBytes);
    try {
      await sendSegment(io, upload, { session: at, sizeBytes });
      at = { ...at, sentBytes: at.sentBytes + sizeBytes, segments: at.segments + 1 };
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      at = halved(at, upload.sizeBytes, sizeBytes);
    }
    await context.saveHandle(at);
  }
  return finalize(io, at);
}

async function sendSegment(
  io: PublishIo,
  { contentOf }: Upload,
  { session, sizeBytes }: { readonly session: Session; readonly sizeBytes: number },
): Promise<void> {
  const { mediaId, segments, sentBytes: start } = session;
  const file = { name: "media", fileName: "media", mimeType: "application/octet-stream" };
  await send(io, {
    ...UPLOAD_TIMES,
    method: "POST",
    path: `/2/media/upload/${mediaId}/append`,
    multipart: [
      { name: "segment_index", text: String(segments) },
      { ...file, ...contentOf({ start, end: start + sizeBytes - 1, sizeBytes }) },
    ],
    // A segment that comes twice is stored once.
    isIdempotent: true,
  });
}

function isTooLarge(error: unknown): error is PlatformFault {
  return error instanceof PlatformFault && TOO_LARGE.includes(error.httpStatus);
}

/** Goes on with segments half as large as the one that was refused. */
function halved(session: Session, totalBytes: number, refusedBytes: number): Session {
  const segmentBytes = Math.ceil(refusedBytes / 2);
  const left = Math.ceil((totalBytes - session.sentBytes) / segmentBytes);
  if (segmentBytes >= MIN_SEGMENT_BYTES && session.segments + left <= MAX_SEGMENTS)
    return { ...session, segmentBytes };
  throw new PlatformFault(
    "rejected",
    `X's servers refused the file in parts of ${Math.ceil(refusedBytes / KiB)} KB, and it cannot be sent in smaller ones. ` +
      "Send the post again later, or use a smaller file.",
    { field: "mediaUrl", httpStatus: 413 },
  );
}

async function finalize(io: PublishIo, { mediaId, mediaKey }: Session): Promise<UploadedMedia> {
  const path = `/2/media/upload/${mediaId}/finalize`;
  const { data } = await ask(io, { method: "POST", path, isIdempotent: true }, Ended);
  const lifeMs = Math.min((data.expires_after_secs ?? Infinity) * SECOND, MEDIA_LIFE_MS);
  return {
    mediaId,
    mediaKey: data.media_key ?? mediaKey,
    expiresAt: io.now() + lifeMs,
    isProcessed: data.processing_info === null || data.processing_info.state === "succeeded",
    askFrom: data.processing_info === null ? 0 : io.now() + waitMsOf(data.processing_info),
  };
}

async function assertProcessed(io: PublishIo, { mediaId, askFrom }: UploadedMedia): Promise<true> {
  if (io.now() < askFrom) throw new StillProcessing(askFrom - io.now());
  const query = { command: "STATUS", media_id: mediaId };
  const { data } = await ask(io, { path: "/2/media/upload", query }, Ended);
  const info = data.processing_info;
  if (info === null || info.state === "succeeded") return true;
  if (info.state !== "failed") throw new StillProcessing(waitMsOf(info));
  throw new PlatformFault(
    "rejected",
    "X could not process the video or GIF. Use an MP4 with H.264 video and AAC sound of at most 60 frames a second and 1280 × 1024 pixels.",
    { field: "mediaUrl" },
  );
}
