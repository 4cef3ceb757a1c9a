import { parseUrl } from "../../domain/parse-url.ts";
import { toIso } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { bearer } from "../shared/faults.ts";
import { uploadFilm, type Film, type Uploaded } from "../shared/film/sessions.ts";
import { uploadBaseOf, watchUrl } from "./api.ts";
import { youtubeFaults } from "./faults.ts";
import { findUpload } from "./find-upload.ts";
import { visibilityOf, type YoutubePost } from "./metadata.ts";
import { declaredOf, snippetOf, Video } from "./video.ts";

/** A multiple of 256 KiB, as YouTube wants; what a broken connection sends twice. */
const CHUNK_BYTES = 8 * 1024 * 1024;

/** Brings the film onto YouTube, for nobody to see. */
export function upload(post: YoutubePost, io: PublishIo): Promise<Uploaded> {
  const body = bodyOf(post, io);
  return uploadFilm(io, {
    title: "YouTube",
    mediaUrl: post.mediaUrl,
    request: body,
    chunkBytes: CHUNK_BYTES,
    sign: bearer(),
    classify: youtubeFaults(io),
    begin: (film) => beginSession(io, { post, body, film }),
    read: (answer) => {
      const video = Video.safeParse(answer);
      return video.success ? filmOf(video.data.id) : null;
    },
    find: async ({ since, sizeBytes }) => {
      const id = await findUpload(io, { post, since, sizeBytes });
      return id === null ? null : filmOf(id);
    },
  });
}

function filmOf(id: string): Film {
  return { id, url: watchUrl(id) };
}

/** YouTube flips what is to be public at its time by itself; anything else is flipped by us. */
function bodyOf(post: YoutubePost, io: PublishIo): JsonObject {
  const isFlipped = visibilityOf(post) === "public" && !io.isDue;
  const publishAt = isFlipped ? { publishAt: toIso(post.scheduledAt) } : {};
  return {
    snippet: snippetOf(post),
    status: { privacyStatus: "private", ...publishAt, ...declaredOf(post) },
  };
}

interface Begun {
  readonly post: YoutubePost;
  readonly body: JsonObject;
  readonly film: MediaItem;
}

async function beginSession(io: PublishIo, { post, body, film }: Begun): Promise<string> {
  const { sizeBytes, mimeType } = film.facts;
  const { notifySubscribers } = post.metadata;
  const base = uploadBaseOf(io);
  const { headers } = await io.request({
    method: "POST",
    url: `${base}/upload/youtube/v3/videos`,
    query: { uploadType: "resumable", part: "snippet,status", notifySubscribers },
    headers: { "x-upload-content-length": String(sizeBytes), "x-upload-content-type": mimeType },
    json: body,
    isIdempotent: true,
    sign: bearer(),
    classify: youtubeFaults(io),
  });
  const location = headers["location"] ?? "";
  const url = location === "" ? null : parseUrl(location, base);
  if (url === null) throw new PlatformFault("transient", "YouTube did not say where to send the video.");
  // It gets the channel's token.
  if (url.protocol !== new URL(base).protocol)
    throw new PlatformFault("transient", "YouTube named an address to send the video to that is not secure.");
  return url.href;
}
