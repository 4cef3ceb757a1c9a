import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { EffectContext, PublishIo } from "../../ports/publish-io.ts";
import { bearer } from "../shared/faults.ts";
import { fitPicture, inOrder, itemsOf, type PostItem, toPart } from "../shared/media.ts";
import { Created } from "../shared/meta/graph.ts";
import {
  bytesOf,
  orUploadFaults,
  ruploadUrl,
  sendBytes,
  sendFilm,
  Uploading,
} from "../shared/meta/rupload.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import {
  askPage,
  askPageOrGone,
  facebookFaults,
  filmFault,
  graphBase,
  pageOf,
  pageRequest,
  signedBy,
  videoBase,
} from "./api.ts";
import { canSchedule, type FacebookPost, MAX_PHOTOS } from "./metadata.ts";

const Words = z.string().catch("");
const Problem = z.looseObject({ code: z.coerce.number().optional().catch(undefined) });
const Problems = { error: Problem.optional(), errors: z.array(Problem).optional() };
const Phase = z.looseObject({ status: Words, ...Problems });

const Film = z.looseObject({
  published: z.boolean().optional(),
  scheduled_publish_time: z.union([z.string(), z.number()]).optional(),
  status: z
    .looseObject({
      video_status: Words,
      uploading_phase: Uploading.extend(Problems).optional(),
      processing_phase: Phase.optional(),
      publishing_phase: Phase.extend({ publish_status: Words }).optional(),
    })
    .optional(),
});
type Film = z.infer<typeof Film>;

const UPLOADED: readonly string[] = ["upload_complete", "processing", "ready"];
const BEGUN: readonly string[] = ["in_progress", "complete"];
const FAILED: readonly string[] = ["error", "expired", "upload_failed"];

interface FilmState {
  readonly isPublished: boolean;
  readonly isScheduled: boolean;
  /** Processed, or done with that. */
  readonly isReady: boolean;
  readonly isUploaded: boolean;
  /** Facebook has begun with it, which of a reel it does once it is released. */
  readonly isBegun: boolean;
  /** How much of the file is there. */
  readonly bytes: number;
  /** Why it will never be seen; null: nothing is wrong. */
  readonly fault: PlatformFault | null;
}

/** What Facebook knows of a film, or a reel that was begun; null where it is gone. */
export async function readFilm(io: PlatformIo, id: string): Promise<FilmState | null> {
  const query = { fields: "published,scheduled_publish_time,status" };
  const film = await askPageOrGone(io, { path: id, query }, Film);
  return film === null ? null : stateOf(film);
}

function stateOf({ published, scheduled_publish_time: scheduledAt, status }: Film): FilmState {
  const {
    video_status: whole = "",
    uploading_phase: uploading,
    processing_phase,
    publishing_phase,
  } = status ?? {};
  const phases = [uploading, processing_phase, publishing_phase];
  const failed = phases.find((phase) => phase?.status === "error");
  const publishStatus = publishing_phase?.publish_status ?? "";
  const isFailed = FAILED.includes(whole) || failed !== undefined || publishStatus === "error";
  const code = (failed?.error ?? failed?.errors?.[0])?.code ?? null;
  return {
    isPublished: publishStatus === "published" || (publishStatus === "" && published === true),
    isScheduled: publishStatus === "scheduled" || (publishStatus === "" && scheduledAt !== undefined),
    isReady: whole === "ready" || processing_phase?.status === "complete",
    isUploaded: uploading?.status === "complete" || UPLOADED.includes(whole),
    isBegun: BEGUN.includes(processing_phase?.status ?? ""),
    bytes: bytesOf(uploading),
    fault: isFailed ? filmFault(code) : null,
  };
}

/** Whether an object of the Graph API is still there. */
async function isThere(io: PlatformIo, id: string): Promise<boolean> {
  return (await askPageOrGone(io, { path: id, query: { fields: "id" } }, AnyAnswer)) !== null;
}

export const FILMS: AcceptedMedia = {
  kind: "video",
  mimeTypes: ["video/mp4", "video/quicktime"],
  maxBytes: 2_000_000_000,
  maxSeconds: 4 * 60 * 60,
  maxItems: 1,
};

/** https://developers.facebook.com/docs/page-stories-api */
export const STORY_FILMS: AcceptedMedia = { ...FILMS, minSeconds: 3, maxSeconds: 90 };

const AnyAnswer = z.looseObject({});

const ReelSession = z.object({ videoId: z.string(), uploadUrl: z.string() });
const ReelStarted = z.looseObject({ video_id: Id, upload_url: z.url().optional() });

/** Where reels and stories are begun, and released. */
export type ReelEdge = "video_reels" | "video_stories";

/** Brings the file of a reel or a story there, as far as it is not there yet. It is not seen. */
export async function uploadReel(
  { item, edge }: { readonly item: MediaItem; readonly edge: ReelEdge },
  io: PublishIo,
  context: EffectContext,
): Promise<string> {
  const known = ReelSession.safeParse(context.handle).data;
  const before = known === undefined ? null : await readFilm(io, known.videoId);
  const isUsable = known !== undefined && before !== null && before.fault === null;
  const { videoId, uploadUrl } = isUsable ? known : await startReel(edge, io, context);
  const from = isUsable ? before.bytes : 0;
  if (isUsable && before.isUploaded) return videoId;
  await sendFilm(io, { url: uploadUrl, item, from, classify: facebookFaults });
  return videoId;
}

async function startReel(
  edge: ReelEdge,
  io: PublishIo,
  { saveHandle }: EffectContext,
): Promise<z.infer<typeof ReelSession>> {
  const json = { upload_phase: "start" };
  const call = { method: "POST", path: `${pageOf(io)}/${edge}`, json, isIdempotent: true } as const;
  const { video_id: videoId, upload_url: named } = await askPage(io, call, ReelStarted);
  const session = { videoId, uploadUrl: ruploadUrl(io, named, "video-upload", videoId) };
  await saveHandle(session);
  return session;
}

const VideoSession = z.object({ session: z.string(), file: z.string().nullable() });
const Begun = z.looseObject({ id: z.string().regex(/^upload:/) });
const Uploaded = z.looseObject({ h: z.string().min(1) });
const Offset = z.looseObject({ file_offset: z.coerce.number().min(0) });

/**
 * Brings a film there that is no reel, unseen: the file by the person's token, as Facebook has it, and the film
 * of it by the Page's. One that is there twice is not seen either.
 */
export async function uploadVideo(
  { post, item }: { readonly post: FacebookPost; readonly item: MediaItem },
  io: PublishIo,
  context: EffectContext,
): Promise<string> {
  const known = VideoSession.safeParse(context.handle).data;
  const file = known?.file ?? (await sendFile(known?.session ?? null, item, { io, context }));
  const { caption, metadata } = post;
  const form = {
    published: false,
    title: metadata.title,
    description: caption,
    fbuploader_video_file_chunk: file,
  };
  const path = `${pageOf(io)}/videos`;
  const call = { ...UPLOAD_TIMES, method: "POST", path, form, isIdempotent: true } as const;
  try {
    const request = { ...pageRequest(io, call), url: `${videoBase(io)}/${path}` };
    return (await io.ask(request, Created)).id;
  } catch (error) {
    // What was uploaded before may have been used up or forgotten.
    const isStale = known !== undefined && error instanceof PlatformFault && error.kind === "rejected";
    if (!isStale) throw error;
    await context.saveHandle(null);
    return uploadVideo({ post, item }, io, { ...context, handle: null });
  }
}

async function sendFile(
  known: string | null,
  item: MediaItem,
  { io, context }: { readonly io: PublishIo; readonly context: EffectContext },
): Promise<string> {
  const going = known === null ? null : await offsetOf(known, io);
  const { session, from } = going ?? { session: await beginFile(item, io), from: 0 };
  if (going === null) await context.saveHandle({ session, file: null });
  const url = `${graphBase(io)}/${session}`;
  const headers = { file_offset: `${from}` };
  const bytes = { url, token: "accessToken", item, from, headers, classify: facebookFaults };
  const { h: file } = await sendBytes(io, bytes, Uploaded);
  await context.saveHandle({ session, file });
  return file;
}

/** Null where Facebook does not know the session any more. */
async function offsetOf(session: string, io: PublishIo): Promise<{ session: string; from: number } | null> {
  try {
    const sign = bearer("accessToken", "OAuth");
    const url = `${graphBase(io)}/${session}`;
    const answer = await io.ask(
      { method: "GET", url, sign, classify: orUploadFaults(facebookFaults) },
      Offset,
    );
    return { session, from: answer.file_offset };
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

async function beginFile(item: MediaItem, io: PublishIo): Promise<string> {
  const { sizeBytes, mimeType } = item.facts;
  const { id } = await io.ask(
    {
      method: "POST",
      url: `${graphBase(io)}/${io.setting("CLIENT_ID") ?? "app"}/uploads`,
      query: { file_name: "film.mp4", file_length: sizeBytes, file_type: mimeType },
      sign: signedBy(io, "accessToken"),
      classify: facebookFaults,
      isIdempotent: true,
    },
    Begun,
  );
  return id;
}

/** https://developers.facebook.com/docs/graph-api/reference/page/photos */
const IMAGE_LIMITS = {
  maxBytes: 10_000_000,
  mimeTypes: ["image/jpeg", "image/png"],
} as const satisfies ImageLimits;

export const IMAGES: AcceptedMedia = {
  kind: "image",
  ...IMAGE_LIMITS,
  maxItems: MAX_PHOTOS,
  animated: false,
};
export const STORY_IMAGES: AcceptedMedia = { ...IMAGES, maxItems: 1 };

/** Uploads the pictures, not seen yet, and gives their ids. */
export async function preparePhotos(post: FacebookPost, io: PublishIo): Promise<string[]> {
  return inOrder(itemsOf(post), (given, at) =>
    io.effect<string>({
      step: `photo.${at + 1}`,
      request: { ...given },
      send: () => sendPhoto(post, given, io),
      // One that is there twice is not seen, and Facebook drops it after a day.
      reconcile: async () => ({ outcome: "send_again" }),
      isGone: async (photo) => !(await isThere(io, photo)),
    }),
  );
}

async function sendPhoto(post: FacebookPost, { url, altText }: PostItem, io: PublishIo): Promise<string> {
  const picture = await fitPicture(await io.media.item(url, altText), IMAGE_LIMITS, io);
  const fields = {
    published: "false",
    // What waits for a schedule is kept for it then.
    ...(canSchedule(post, io) ? { temporary: "true" } : {}),
    ...(altText === null || altText === "" ? {} : { alt_text_custom: altText }),
  };
  const texts = Object.entries(fields).map(([name, text]) => ({ name, text }));
  const multipart = [...texts, toPart("source", picture, "photo")];
  const call = { ...UPLOAD_TIMES, method: "POST", path: `${pageOf(io)}/photos`, multipart } as const;
  return (await askPage(io, { ...call, isIdempotent: true }, Created)).id;
}
