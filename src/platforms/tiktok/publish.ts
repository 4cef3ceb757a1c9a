import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { type Json, type JsonObject, PlatformFault } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { EffectContext, PublishIo, ReconcileContext, Reconciled } from "../../ports/publish-io.ts";
import { asRetryable, throwNotSent } from "../shared/faults.ts";
import { inOrder } from "../shared/media.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { sendInChunks } from "../shared/uploads.ts";
import { callTikTok, classifyChunk, SessionGone } from "./api.ts";
import { assertAllowed, type CreatorInfo, kindProblem, readCreator } from "./connect.ts";
import { follow, readStatus, SentPost } from "./live.ts";
import { isInbox, privacyOf, type TikTokPost } from "./metadata.ts";

const STEP = "post";

/**
 * TikTok posts a film by itself once it has its last byte, and photos once it is given their addresses: both are
 * one step, and what became of it is asked with the id that TikTok gave.
 */
export async function publish(post: TikTokPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "prepared" };
  const known = SentPost.safeParse(io.resultOf(STEP));
  return follow(post, io, known.success ? known.data : await bring(post, io));
}

async function bring(post: TikTokPost, io: PublishIo): Promise<SentPost> {
  const { item, urls } = await open(post, io);
  const result = await io.effect<Json>({
    step: STEP,
    request: { mediaUrl: post.mediaUrl, caption: post.caption },
    send: (context) =>
      urls === null ? sendFilm({ post, item, io }, context) : sendPhotos({ post, urls, io }, context),
    reconcile: async (context) => {
      if (context.handle === null) return { outcome: "send_again" };
      return PhotosAsked.safeParse(context.handle).success
        ? reconcilePhotos(context, { post, io })
        : reconcileFilm(context, io);
    },
  });
  return SentPost.parse(result);
}

/** All media, so that what cannot be posted is refused as a whole. `urls`: null for a film. */
async function open(
  post: TikTokPost,
  io: PublishIo,
): Promise<{ item: MediaItem; urls: readonly string[] | null }> {
  const item = await io.media.item(post.mediaUrl);
  const more = await inOrder(post.metadata.moreMedia ?? [], ({ url }) => io.media.item(url));
  const items = [item, ...more];
  const facts = items.map((one) => one.facts);
  const wrong = kindProblem(post, facts);
  if (wrong !== null) throw new AppError("invalid", wrong);
  return { item, urls: item.facts.type === "image" ? await publishPhotos(items, io) : null };
}

/** PNG is refused; 1080p is the most. */
export const PHOTO_LIMITS = {
  maxBytes: 20_000_000,
  mimeTypes: ["image/jpeg", "image/webp"],
  maxWidth: 1_080,
  maxHeight: 1_920,
} as const satisfies ImageLimits;

/** How long TikTok may take to fetch them. */
const FETCH_MINUTES = 120;

/** Addresses of the photos under our own domain, which is the one that is verified. */
function publishPhotos(items: readonly MediaItem[], io: PublishIo): Promise<string[]> {
  return inOrder(items, async (item) => {
    const fitted = await io.media.fitImage(item, PHOTO_LIMITS);
    return io.media.publicUrl(fitted.isChanged ? fitted : item, FETCH_MINUTES, { ours: true });
  });
}

/** Noted right before the one request that may make a post. */
const PhotosAsked = z.object({ kind: z.literal("photo"), username: z.string().nullable() });

const Started = z.looseObject({ publish_id: z.string().min(1) });

async function sendPhotos(
  { post, urls, io }: { readonly post: TikTokPost; readonly urls: readonly string[]; readonly io: PublishIo },
  context: EffectContext,
): Promise<SentPost> {
  const { info, username } = await prepare(post, io).catch(throwNotSent);
  await context.saveHandle({ kind: "photo", username });
  const json: JsonObject = {
    media_type: "PHOTO",
    post_mode: isInbox(post.metadata) ? "MEDIA_UPLOAD" : "DIRECT_POST",
    post_info: info,
    source_info: {
      source: "PULL_FROM_URL",
      photo_cover_index: post.metadata.coverIndex ?? 0,
      photo_images: [...urls],
    },
  };
  const path = "/v2/post/publish/content/init/";
  const { publish_id: publishId } = await callTikTok(io, { path, json, kind: "change" }, Started);
  return { kind: "photo", publishId, postId: null, username };
}

async function prepare(
  { caption, metadata }: TikTokPost,
  io: PublishIo,
): Promise<{ info: JsonObject; username: string | null }> {
  const text = {
    ...(metadata.title === undefined ? {} : { title: metadata.title }),
    description: caption ?? "",
  };
  if (isInbox(metadata)) return { info: text, username: null };
  const creator = await readCreator(io);
  assertAllowed(creator, { metadata, seconds: null });
  const info = {
    ...text,
    privacy_level: privacyOf(metadata),
    disable_comment: creator.comment_disabled || metadata.disableComment === true,
    auto_add_music: metadata.autoAddMusic === true,
    brand_content_toggle: metadata.brandContent === true,
    brand_organic_toggle: metadata.brandOrganic === true,
  };
  return { info, username: creator.creator_username === "" ? null : creator.creator_username };
}

const Page = z.looseObject({
  videos: z
    .array(
      z.looseObject({
        id: Id,
        title: z.string().catch(""),
        video_description: z.string().catch(""),
        create_time: z.number(),
      }),
    )
    .catch([]),
});

/** Found among what everybody can see, by its text; what TikTok does not list proves nothing. */
async function reconcilePhotos(
  context: ReconcileContext,
  { post, io }: { readonly post: TikTokPost; readonly io: PublishIo },
): Promise<Reconciled<SentPost>> {
  const { username } = PhotosAsked.parse(context.handle);
  const reconciled = reconcileByListing<SentPost>(context, {
    io,
    // Moderation takes a minute as a rule.
    listedAfterMs: 3 * MINUTE,
    doubt: "the answer was lost, and TikTok lists only public posts, and lists them late.",
    find: async (since) => {
      const postId = await find(post, io, since);
      return postId === null ? null : { kind: "photo", publishId: null, postId, username };
    },
  });
  return reconciled.catch((error: unknown) => {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    return { outcome: "unknown", reason: "the answer was lost, and the app may not list TikTok's posts." };
  });
}

async function find({ caption, metadata }: TikTokPost, io: PublishIo, since: number): Promise<string | null> {
  const wanted = [caption, metadata.title].map(asOneLine).filter((text) => text !== "");
  if (wanted.length === 0) return null;
  const fields = "id,title,video_description,create_time";
  const call = {
    path: "/v2/video/list/",
    query: { fields },
    json: { max_count: 20 },
    kind: "numbers",
  } as const;
  const page = await callTikTok(io, call, Page);
  const found = page.videos.find(
    ({ title, video_description: text, create_time: at }) =>
      at * SECOND >= since && [title, text].map(asOneLine).some((one) => wanted.includes(one)),
  );
  return found?.id ?? null;
}

function asOneLine(text: string | null | undefined): string {
  return (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
}

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
type Session = z.infer<typeof Session>;

const BegunUpload = z.looseObject({ publish_id: z.string().min(1), upload_url: z.string().min(1) });

interface Film {
  readonly post: TikTokPost;
  readonly item: MediaItem;
  readonly io: PublishIo;
}

/**
 * Brings the film to TikTok in one upload that any process goes on with. Until its last chunk is sent nothing is
 * seen, so that all that fails before is as if nothing had been sent.
 */
async function sendFilm(film: Film, context: EffectContext): Promise<SentPost> {
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
    throw asRetryable(error);
  }
}

function readSession(handle: Json): Session | null {
  return Session.nullable().parse(handle);
}

function sentOf({ publishId, username }: Session): SentPost {
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
async function reconcileFilm({ handle }: ReconcileContext, io: PublishIo): Promise<Reconciled<SentPost>> {
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
  return error instanceof PlatformFault && error.kind === "rejected" && (error.httpStatus ?? 500) < 500;
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
  const started = await callTikTok(io, { ...call, kind: "repeatable" }, BegunUpload);
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
