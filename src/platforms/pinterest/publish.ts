import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { type LiveAt, type PublishIo, StillProcessing } from "../../ports/publish-io.ts";
import type { FaultRule } from "../shared/faults.ts";
import { inOrder, itemsOf, openAll } from "../shared/media.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { call, callOrGone, Created, reconcilePin } from "./api.ts";
import { openBoard } from "./boards.ts";
import { ONE_FILM, type PinterestPost } from "./metadata.ts";

const MB = 1_000_000;

/** Pinterest takes 20 MB; they go inside of the request, a third larger. */
export const IMAGE_LIMITS = {
  mimeTypes: ["image/jpeg", "image/png"],
  maxBytes: 10 * MB,
} as const satisfies ImageLimits;

/** One pin, looked for on its board where its answer is lost. Films go there before its time. */
export async function publish(post: PinterestPost, io: PublishIo): Promise<PublishOutcome> {
  try {
    const source = await prepareSource(post, io);
    if (source === null) return { state: "prepared" };
    return { state: "live", ...liveAt(await createPin(post, source, io)) };
  } catch (error) {
    if (!(error instanceof StillProcessing)) throw error;
    return io.isDue ? { state: "processing", checkAgainMs: error.checkAgainMs } : { state: "prepared" };
  }
}

function liveAt(result: JsonObject): LiveAt {
  const { id } = Created.parse(result);
  return { platformPostId: id, platformUrl: `https://www.pinterest.com/pin/${id}/` };
}

/** Makes what a pin shows; pictures are read when they are sent. */
type Source = () => Promise<JsonObject>;

/** Null where there is nothing to do before the pin's time. */
async function prepareSource({ mediaUrl, metadata }: PinterestPost, io: PublishIo): Promise<Source | null> {
  const items = await openAll(itemsOf({ mediaUrl, metadata }), io);
  const [first] = items;
  if (first === undefined)
    throw new AppError("invalid", "mediaUrl: a pin needs a picture or a video. Give one.");
  if (items.length > 1 && items.some(({ facts }) => facts.type === "video"))
    throw new AppError("invalid", ONE_FILM);
  if (first.facts.type === "video") {
    const mediaId = await uploadVideo(first, io);
    await requireReady(mediaId, io);
    if (!io.isDue) return null;
    return async () => ({
      source_type: "video_id",
      media_id: mediaId,
      ...(await coverOf(metadata, io)),
    });
  }
  if (!io.isDue) return null;
  if (items.length === 1) return async () => ({ source_type: "image_base64", ...(await encode(first, io)) });
  return async () => ({
    source_type: "multiple_image_base64",
    items: await inOrder(items, (item) => encode(item, io, first)),
  });
}

async function coverOf(
  { thumbnailUrl, coverSeconds = 1 }: PinterestPost["metadata"],
  io: PublishIo,
): Promise<JsonObject> {
  if (thumbnailUrl === undefined) return { cover_image_key_frame_time: coverSeconds };
  const { content_type, data } = await encode(await io.media.item(thumbnailUrl), io);
  return { cover_image_content_type: content_type, cover_image_data: data };
}

/** `like`: the picture whose shape those of a carousel share. */
async function encode(
  item: MediaItem,
  io: PublishIo,
  like: MediaItem | null = null,
): Promise<{ content_type: string; data: string }> {
  const { width, height } = like?.facts ?? { width: null, height: null };
  const ratio = width === null || height === null ? null : width / height;
  const shape = ratio === null ? {} : { aspect: { min: ratio, max: ratio, fill: "white" as const } };
  const { bytes, mimeType } = await io.media.fitImage(item, { ...IMAGE_LIMITS, ...shape });
  return { content_type: mimeType, data: bytes.toString("base64") };
}

const NO_BOARD: FaultRule = {
  status: 404,
  kind: "rejected",
  field: "metadata.boardId",
  message:
    "Pinterest knows no such board of this channel, or no such section on it. Choose one of the channel's boards.",
};

/** Texts of a pin; null takes one away that was there. */
export function textsOf({ caption, metadata }: PinterestPost) {
  const { title, link, altText } = metadata;
  return {
    title: title ?? null,
    description: caption,
    link: link ?? null,
    alt_text: altText ?? null,
  };
}

async function createPin(post: PinterestPost, source: Source, io: PublishIo): Promise<JsonObject> {
  const { title = "", link = "", moreMedia = [], boardSection } = post.metadata;
  const boardId = await openBoard(post, io);
  const section = boardSection === undefined ? {} : { board_section_id: boardSection };
  const fields = { board_id: boardId, ...textsOf(post), ...section };
  const sectionId = boardSection ?? null;
  return io.effect<JsonObject>({
    step: "pin",
    request: { ...fields, media: [post.mediaUrl, ...moreMedia.map(({ url }) => url)] },
    send: async () => {
      const json = { ...fields, media_source: await source() };
      const { id } = await call(io, { method: "POST", path: "/pins", json, rules: [NO_BOARD] }, Created);
      return { id };
    },
    reconcile: (context) =>
      reconcilePin(context, { boardId, sectionId, title, description: post.caption ?? "", link }, io),
    live: liveAt,
  });
}

const Registered = z.looseObject({
  media_id: z.string(),
  upload_url: z.string(),
  upload_parameters: z.record(z.string(), z.string()),
});

const Handle = z.object({ mediaId: z.string() });

const CHECK_AGAIN_MS = 5 * SECOND;

/** Brings a film to Pinterest, unseen until it is pinned. Gives the id that it is pinned by. */
async function uploadVideo(item: MediaItem, io: PublishIo): Promise<string> {
  const done = await io.effect<JsonObject>({
    step: "upload",
    request: { url: item.url },
    send: async ({ saveHandle }) => {
      const json = { media_type: "video" };
      const asked = { method: "POST", path: "/media", json, isIdempotent: true } as const;
      const registered = await call(io, asked, Registered);
      await saveHandle({ mediaId: registered.media_id });
      await sendFile(item, registered, io);
      return { mediaId: registered.media_id };
    },
    reconcile: async ({ handle }) => {
      const mediaId = Handle.safeParse(handle).data?.mediaId;
      const status = mediaId === undefined ? null : await statusOf(mediaId, io);
      return mediaId === undefined || status === null || status === "registered"
        ? { outcome: "send_again" }
        : { outcome: "done", result: { mediaId } };
    },
    isGone: async (result) => (await statusOf(Handle.parse(result).mediaId, io)) === null,
  });
  return Handle.parse(done).mediaId;
}

/** A form of S3's: all that was given, then the file. */
async function sendFile(item: MediaItem, to: z.infer<typeof Registered>, io: PublishIo): Promise<void> {
  const { sizeBytes, mimeType } = item.facts;
  const parameters = Object.entries(to.upload_parameters).map(([name, text]) => ({ name, text }));
  await io.request({
    ...UPLOAD_TIMES,
    method: "POST",
    url: to.upload_url,
    multipart: [
      ...parameters,
      { name: "file", fileName: "video.mp4", mimeType, sizeBytes, open: () => item.open() },
    ],
    isIdempotent: true,
  });
}

/** Throws StillProcessing until Pinterest is done with it. */
async function requireReady(mediaId: string, io: PublishIo): Promise<void> {
  const status = await statusOf(mediaId, io);
  if (status === "succeeded") return;
  if (status === "failed") {
    throw new PlatformFault(
      "rejected",
      "Pinterest could not process the video. It takes MP4 and MOV of 4 seconds to 15 minutes. Convert it, then send the post again.",
    );
  }
  throw new StillProcessing(CHECK_AGAIN_MS);
}

const Media = z.looseObject({ status: z.string().optional() });

/** Null where Pinterest has no such upload (any more). */
async function statusOf(mediaId: string, io: PublishIo): Promise<string | null> {
  return (await callOrGone(io, { path: `/media/${mediaId}` }, Media))?.status ?? null;
}
