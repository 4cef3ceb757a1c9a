import * as z from "zod";
import { PlatformFault, type Json, type PlatformResponse } from "../../ports/platform-io.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { committedBytes } from "../shared/chunks.ts";
import { bearer } from "../shared/faults.ts";
import { uploadBaseOf } from "./api.ts";
import { youtubeFaults } from "./faults.ts";
import type { YoutubePost } from "./metadata.ts";
import { Video } from "./video.ts";

/**
 * An upload under way, as it is kept:
 * https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol
 */
export const Session = z.object({
  url: z.string(),
  sizeBytes: z.int(),
  /** In milliseconds since 1970. */
  beganAt: z.number(),
  /** The last chunk left, or may have: until then no video can have come of it. */
  isLastSent: z.boolean(),
  /** When the video was looked for first, and was not there. */
  absentAt: z.number().nullable(),
});
export type Session = z.infer<typeof Session>;

interface Begun {
  readonly post: YoutubePost;
  readonly body: { readonly snippet: Json; readonly status: Json };
  readonly film: MediaItem;
}

/** Opens a session; one whose answer is lost is forgotten by itself. */
export async function beginSession(io: PublishIo, { post, body, film }: Begun): Promise<Session> {
  const { sizeBytes, mimeType } = film.facts;
  const base = uploadBaseOf(io);
  const { headers } = await io.request({
    method: "POST",
    url: `${base}/upload/youtube/v3/videos`,
    query: {
      uploadType: "resumable",
      part: "snippet,status",
      ...(post.metadata.notifySubscribers === undefined
        ? {}
        : { notifySubscribers: post.metadata.notifySubscribers }),
    },
    headers: { "x-upload-content-length": String(sizeBytes), "x-upload-content-type": mimeType },
    json: body,
    isIdempotent: true,
    sign: bearer(),
    classify: youtubeFaults(io),
  });
  const location = headers["location"] ?? "";
  if (location === "" || !URL.canParse(location, base))
    throw new PlatformFault("transient", "YouTube did not say where to send the video.");
  const url = new URL(location, base);
  // It gets the channel's token.
  if (url.protocol !== new URL(base).protocol)
    throw new PlatformFault("transient", "YouTube named an address to send the video to that is not secure.");
  return { url: url.href, sizeBytes, beganAt: io.now(), isLastSent: false, absentAt: null };
}

/** The session is over: too old, or never was. */
export function isGone({ status }: PlatformResponse): boolean {
  return status === 404 || status === 410;
}

/** How far an upload is. */
export type Progress =
  | { readonly state: "whole"; readonly video: Video }
  | { readonly state: "partial"; readonly committed: number }
  | { readonly state: "gone" };

/** Throws what the upload was refused with. */
export async function askSession(io: PublishIo, { url, sizeBytes }: Session): Promise<Progress> {
  const faults = youtubeFaults(io);
  const response = await io.request({
    method: "PUT",
    url,
    headers: { "content-length": "0", "content-range": `bytes */${sizeBytes}` },
    isIdempotent: true,
    sign: bearer(),
    classify: (answer) => (answer.status === 308 || isGone(answer) ? "ok" : faults(answer)),
  });
  if (isGone(response)) return { state: "gone" };
  if (response.status === 308) return { state: "partial", committed: committedBytes(response) };
  const video = Video.safeParse(response.json);
  if (video.success) return { state: "whole", video: video.data };
  throw new PlatformFault("transient", "YouTube did not tell which video came of the upload.");
}
