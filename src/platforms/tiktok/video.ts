import * as z from "zod";
import { HOUR, MINUTE } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { PlatformFault, type Json, type JsonObject } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo, Settled, SettleContext } from "../../ports/publish-io.ts";
import { sendInChunks } from "../shared/media/chunks.ts";
import { asNotSent } from "../shared/not-sent.ts";
import { callTikTok } from "./api.ts";
import { assertAllowed, readCreator, type CreatorInfo } from "./creator.ts";
import { classifyChunk, SessionGone } from "./faults.ts";
import { isInbox, privacyOf, type TikTokPost } from "./metadata.ts";
import { readStatus, type Sent } from "./status.ts";

/** 5 to 64 MB are allowed; of what was sent, one is lost at most when this process dies. */
const CHUNK_BYTES = 10_000_000;
/** TikTok ends an upload an hour after it began; the last minutes are not begun on. */
const SESSION_MS = HOUR - 5 * MINUTE;

const Session = z.object({
  kind: z.literal("video"),
  publishId: z.string(),
  uploadUrl: z.string(),
  username: z.string().nullable(),
  sizeBytes: z.int(),
  startedAt: z.number(),
  /** TikTok has what comes before it. */
  from: z.int(),
  /** The last chunk may have gone out: TikTok posts by itself what is whole. */
  isWhole: z.boolean(),
});
export type Session = z.infer<typeof Session>;

const Started = z.looseObject({ publish_id: z.string().min(1), upload_url: z.string().min(1) });

export interface Film {
  readonly post: TikTokPost;
  readonly item: MediaItem;
  readonly io: PublishIo;
}

/**
 * Brings the film to TikTok in one upload that any process goes on with. Until its last chunk is sent nobody
 * can see anything, so that all that fails before is as if nothing had been sent.
 */
export async function sendFilm(film: Film, context: EffectContext): Promise<Sent> {
  const { io } = film;
  let session = readSession(context.handle);
  const save = async (next: Session): Promise<void> => {
    session = next;
    await context.saveHandle(next);
  };
  try {
    const kept = session === null ? null : await goOn(film, session);
    if (kept === "whole" && session !== null) return sentOf(session);
    const current = kept === null || kept === "whole" ? await begin(film) : kept;
    await save(current);
    await sendInChunks(io, {
      item: film.item,
      from: current.from,
      chunkBytes: chunkBytesOf(film.item),
      lastTakesRest: true,
      request: { url: current.uploadUrl, classify: classifyChunk },
      before: ({ start, isLast }) => save({ ...current, from: start, isWhole: isLast }),
    });
    return sentOf(current);
  } catch (error) {
    if (session?.isWhole === true) throw error;
    // Begun anew next time: TikTok drops what is not whole.
    if (error instanceof SessionGone) await context.saveHandle(null);
    throw asNotSent(error);
  }
}

export function readSession(handle: Json): Session | null {
  return Session.nullable().parse(handle);
}

export function sentOf({ publishId, username }: Session): Sent {
  return { kind: "video", publishId, postId: null, username };
}

/** Where the upload stands; null where another must be begun. */
async function goOn({ item, io }: Film, session: Session): Promise<Session | "whole" | null> {
  const isOver = io.now() - session.startedAt > SESSION_MS;
  if (isOver && !session.isWhole) return null;
  const status = await readStatus(io, session.publishId).catch((error: unknown) => {
    if (isUnknownId(error) && !session.isWhole) return null;
    throw error;
  });
  if (status === null) return null;
  const { sizeBytes } = item.facts;
  const has = status.uploaded_bytes ?? session.from;
  if (status.status !== "PROCESSING_UPLOAD" || has >= sizeBytes) {
    return status.status === "FAILED" && !session.isWhole ? null : "whole";
  }
  if (isOver) return null;
  const chunkBytes = chunkBytesOf(item);
  const lastStart = (Math.max(1, Math.floor(sizeBytes / chunkBytes)) - 1) * chunkBytes;
  const from = Math.min(Math.floor(has / chunkBytes) * chunkBytes, lastStart);
  return { ...session, from };
}

/** What became of an upload whose last chunk may have arrived: TikTok knows it by the id it gave. */
export async function settleFilm({ handle }: SettleContext, io: PublishIo): Promise<Settled<Sent>> {
  const session = readSession(handle);
  if (session === null || !session.isWhole) return { outcome: "send_again" };
  try {
    const { status, uploaded_bytes: has } = await readStatus(io, session.publishId);
    // It still waits for bytes; sending them again makes no other post.
    if (status === "PROCESSING_UPLOAD" && (has === undefined || has < session.sizeBytes))
      return { outcome: "send_again" };
    return { outcome: "done", result: sentOf(session) };
  } catch (error) {
    if (!isUnknownId(error)) throw error;
    return { outcome: "unknown", reason: "TikTok does not know the upload any more." };
  }
}

function isUnknownId(error: unknown): boolean {
  return (
    error instanceof PlatformFault &&
    error.kind === "rejected" &&
    error.httpStatus !== null &&
    error.httpStatus < 500
  );
}

function chunkBytesOf({ facts: { sizeBytes } }: MediaItem): number {
  return sizeBytes < 2 * CHUNK_BYTES ? sizeBytes : CHUNK_BYTES;
}

async function begin({ post, item, io }: Film): Promise<Session> {
  const { sizeBytes, durationSeconds } = item.facts;
  const { metadata } = post;
  const chunkBytes = chunkBytesOf(item);
  const source_info = {
    source: "FILE_UPLOAD",
    video_size: sizeBytes,
    chunk_size: chunkBytes,
    total_chunk_count: Math.floor(sizeBytes / chunkBytes),
  };
  let creator: CreatorInfo | null = null;
  if (!isInbox(metadata)) {
    creator = await readCreator(io);
    assertAllowed(creator, { metadata, seconds: durationSeconds });
  }
  const call =
    creator === null
      ? { path: "/v2/post/publish/inbox/video/init/", json: { source_info } }
      : {
          path: "/v2/post/publish/video/init/",
          json: { post_info: infoOf(post, creator), source_info },
        };
  // Where the answer is lost, no byte of the film has left: that upload comes to nothing.
  const started = await callTikTok(io, { ...call, kind: "repeatable" }, Started);
  return {
    kind: "video",
    publishId: started.publish_id,
    uploadUrl: started.upload_url,
    username: creator === null || creator.creator_username === "" ? null : creator.creator_username,
    sizeBytes,
    startedAt: io.now(),
    from: 0,
    isWhole: false,
  };
}

function infoOf({ caption, metadata }: TikTokPost, creator: CreatorInfo): JsonObject {
  const { coverMs, aiGenerated } = metadata;
  return {
    title: caption ?? "",
    privacy_level: privacyOf(metadata),
    disable_comment: creator.comment_disabled || metadata.disableComment === true,
    disable_duet: creator.duet_disabled || metadata.disableDuet === true,
    disable_stitch: creator.stitch_disabled || metadata.disableStitch === true,
    ...(coverMs === undefined ? {} : { video_cover_timestamp_ms: coverMs }),
    brand_content_toggle: metadata.brandContent === true,
    brand_organic_toggle: metadata.brandOrganic === true,
    is_aigc: aiGenerated === true,
  };
}
