import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MediaUnavailable, type FittedImage } from "../../ports/media.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { askAs, uploadBaseOf } from "./api.ts";
import { UPLOAD_TIMES } from "../shared/chunks.ts";
import { bearer, type FaultRule } from "../shared/faults.ts";
import { youtubeFaults } from "./faults.ts";
import type { YoutubePost } from "./metadata.ts";
import { asNotSent } from "../shared/not-sent.ts";

/** https://developers.google.com/youtube/v3/docs/thumbnails/set */
const THUMBNAIL_LIMITS = { maxBytes: 2 * 1024 * 1024, mimeTypes: ["image/jpeg", "image/png"] } as const;

const THUMBNAIL_RULES: readonly FaultRule[] = [
  {
    status: 403,
    code: ["forbidden", "insufficientPermissions", "PERMISSION_DENIED"],
    kind: "rejected",
    message:
      "YouTube lets verified channels alone have thumbnails of their own. Verify it at https://www.youtube.com/verify, then call set_thumbnail.",
  },
  {
    code: ["invalidImage", "mediaBodyRequired"],
    kind: "rejected",
    field: "metadata.thumbnailUrl",
    message: "YouTube refused the picture. Give another one with set_thumbnail.",
  },
];

type Picture = Pick<FittedImage, "bytes" | "mimeType">;

/** Throws AppError `invalid` for what is no picture, or a damaged one. */
export async function openThumbnail(io: PublishIo, thumbnailUrl: string): Promise<Picture> {
  return io.media.fitImage(await io.media.item(thumbnailUrl), THUMBNAIL_LIMITS);
}

/** Replaces the thumbnail, whatever stood there. */
export async function sendThumbnail(io: PublishIo, id: string, picture: Picture): Promise<void> {
  const { bytes, mimeType } = picture;
  await io.request({
    ...UPLOAD_TIMES,
    method: "POST",
    url: `${uploadBaseOf(io)}/upload/youtube/v3/thumbnails/set`,
    query: { videoId: id, uploadType: "media" },
    headers: { "content-type": mimeType, "content-length": String(bytes.length) },
    body: bytes,
    isIdempotent: true,
    sign: bearer(),
    classify: youtubeFaults(io, THUMBNAIL_RULES),
  });
}

/** As a step of the post: it is set once, however often the post is worked on. */
export async function setThumbnailOnce(
  { metadata: { thumbnailUrl } }: YoutubePost,
  io: PublishIo,
  id: string,
): Promise<void> {
  if (thumbnailUrl === undefined || io.resultOf("thumbnail") !== null) return;
  const picture = await openThumbnail(io, thumbnailUrl);
  await io.effect<true>({
    step: "thumbnail",
    request: { id, thumbnailUrl },
    send: async () => {
      await sendThumbnail(io, id, picture).catch((error: unknown) => {
        throw asNotSent(error);
      });
      return true;
    },
    settle: async () => ({ outcome: "send_again" }),
  });
}

/**
 * So that the video has it when YouTube makes it public; tried once. What does not work now is tried again, and
 * told, once the post is live.
 */
export async function setThumbnailAhead(post: YoutubePost, io: PublishIo, id: string): Promise<void> {
  if (post.metadata.thumbnailUrl === undefined) return;
  await io.once("thumbnail ahead", async () => {
    try {
      await setThumbnailOnce(post, io, id);
      return true;
    } catch (error) {
      if (![PlatformFault, AppError, MediaUnavailable].some((kind) => error instanceof kind)) throw error;
      io.log.info({ postId: post.id, err: error }, "a thumbnail could not be set ahead");
      return false;
    }
  });
}

const Items = z.looseObject({ items: z.array(z.looseObject({})).default([]) });

/** A playlist takes the same video twice, so one that may be in it is looked for first. */
export async function addToPlaylist(
  { metadata: { playlistId } }: YoutubePost,
  io: PublishIo,
  id: string,
): Promise<void> {
  if (playlistId === undefined) return;
  const json = { snippet: { playlistId, resourceId: { kind: "youtube#video", videoId: id } } };
  await io.effect<null>({
    step: "playlist",
    request: json,
    send: async () => {
      const rules: readonly FaultRule[] = [{ code: "videoAlreadyInPlaylist", kind: "ok" }];
      const call = {
        method: "POST",
        resource: "playlistItems",
        query: { part: "snippet" },
        json,
        rules,
      } as const;
      await askAs(io, call, z.looseObject({}));
      return null;
    },
    settle: async () => {
      const query = { part: "id", playlistId, videoId: id };
      const { items } = await askAs(io, { resource: "playlistItems", query }, Items);
      return items.length > 0 ? { outcome: "done", result: null } : { outcome: "send_again" };
    },
  });
}
