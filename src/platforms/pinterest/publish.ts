import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { FaultRule } from "../shared/faults.ts";
import { call } from "./api.ts";
import { settlePin } from "./look-up.ts";
import { ONE_FILM, type PinterestPost } from "./metadata.ts";
import { requireReady, StillProcessing, uploadVideo } from "./video.ts";

const MB = 1_000_000;

/** Pinterest takes 20 MB; they go inside of the request, a third larger. */
export const IMAGE_LIMITS = {
  mimeTypes: ["image/jpeg", "image/png"],
  maxBytes: 10 * MB,
} as const satisfies ImageLimits;

const Created = z.looseObject({ id: z.string().regex(/^\d+$/) });

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
  const [first, ...more] = await openAll([mediaUrl, ...(metadata.moreMedia ?? []).map(({ url }) => url)], io);
  if (first === undefined)
    throw new AppError("invalid", "mediaUrl: a pin needs a picture or a film. Give one.");
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
  if (more.length === 0) return async () => ({ source_type: "image_base64", ...(await encode(first, io)) });
  return async () => {
    const items: JsonObject[] = [];
    for (const item of [first, ...more]) items.push(await encode(item, io, first));
    return { source_type: "multiple_image_base64", items };
  };
}

async function openAll(urls: readonly string[], io: PublishIo): Promise<MediaItem[]> {
  const items: MediaItem[] = [];
  for (const url of urls) items.push(await io.media.item(url));
  if (items.length > 1 && items.some(({ facts }) => facts.type === "video"))
    throw new AppError("invalid", ONE_FILM);
  return items;
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
  message: "Pinterest knows no such board of this channel. Choose one of the channel's boards.",
};

/** Texts of a pin; null takes one away that was there. */
export function fieldsOf({ caption, metadata }: PinterestPost) {
  const { boardId, title, link, altText } = metadata;
  return {
    board_id: boardId,
    title: title ?? null,
    description: caption,
    link: link ?? null,
    alt_text: altText ?? null,
  };
}

function createPin(post: PinterestPost, source: Source, io: PublishIo): Promise<JsonObject> {
  const { boardId, title = "", link = "", moreMedia = [] } = post.metadata;
  const fields = fieldsOf(post);
  return io.effect<JsonObject>({
    step: "pin",
    request: { ...fields, media: [post.mediaUrl, ...moreMedia.map(({ url }) => url)] },
    send: async () => {
      const json = { ...fields, media_source: await source() };
      const { id } = await call(io, { method: "POST", path: "/pins", json, rules: [NO_BOARD] }, Created);
      return { id };
    },
    settle: (context) => settlePin(context, { boardId, title, description: post.caption ?? "", link }, io),
    live: liveAt,
  });
}
