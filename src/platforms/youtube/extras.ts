import * as z from "zod";
import type { PublishIo } from "../../ports/publish-io.ts";
import { askAs, uploadBaseOf } from "./api.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { bearer, type FaultRule } from "../shared/faults.ts";
import type { Picture, Thumbnail } from "../shared/film/thumbnail.ts";
import { youtubeFaults } from "./faults.ts";
import type { YoutubePost } from "./metadata.ts";

/** https://developers.google.com/youtube/v3/docs/thumbnails/set */
const THUMBNAIL_LIMITS = { maxBytes: 2 * 1024 * 1024, mimeTypes: ["image/jpeg", "image/png"] } as const;

const THUMBNAIL_RULES: readonly FaultRule[] = [
  {
    status: 403,
    code: ["forbidden", "insufficientPermissions", "PERMISSION_DENIED"],
    kind: "rejected",
    message:
      "Only verified channels may have thumbnails of their own on YouTube. Verify the channel at https://www.youtube.com/verify, then set the thumbnail again.",
  },
  {
    code: ["invalidImage", "mediaBodyRequired"],
    kind: "rejected",
    field: "metadata.thumbnailUrl",
    message: "YouTube refused the picture. Set another thumbnail.",
  },
];

export function thumbnailOf<U extends string | undefined>(
  io: Pick<PublishIo, "request" | "setting" | "now">,
  url: U,
): Thumbnail & { readonly url: U } {
  return { url, limits: THUMBNAIL_LIMITS, send: (id, picture) => sendPicture(io, id, picture) };
}

async function sendPicture(
  io: Pick<PublishIo, "request" | "setting" | "now">,
  id: string,
  { bytes, mimeType }: Picture,
): Promise<void> {
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
