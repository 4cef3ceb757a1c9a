import * as z from "zod";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Standing } from "../shared/film/held.ts";
import { own } from "./api.ts";
import { PRIVACIES } from "./metadata.ts";

const Id = z.looseObject({ id: z.int() });
const Count = z.int().min(0).optional().catch(undefined);

/** A video as far as we read it: https://docs.joinpeertube.org/api-rest-reference.html#tag/Video */
export const Video = z.looseObject({
  uuid: z.string().min(1),
  shortUUID: z.string().optional(),
  name: z.string().catch(""),
  privacy: Id.optional().catch(undefined),
  state: Id.optional().catch(undefined),
  scheduledUpdate: z.looseObject({}).nullable().catch(null),
  blacklisted: z.boolean().catch(false),
  blacklistedReason: z.string().catch(""),
  createdAt: z.string().catch(""),
  views: Count,
  likes: Count,
  comments: Count,
});
export type Video = z.infer<typeof Video>;

/** Null where there is none. */
export async function findVideo(io: PlatformIo, id: string): Promise<Video | null> {
  const call = { path: pathOf(id), rules: [{ status: 404, kind: "ok" }] } as const;
  const { status, json } = await own(io, call);
  if (status === 404) return null;
  const video = Video.safeParse(json);
  if (video.success) return video.data;
  throw new PlatformFault("transient", "The server did not answer properly.", { cause: video.error });
}

export function pathOf(id: string): string {
  return `videos/${encodeURIComponent(id)}`;
}

/** https://docs.joinpeertube.org/api-rest-reference.html#operation/getVideo: its `state`. */
const PUBLISHED = 1;
const FAILED: readonly number[] = [7, 8, 11, 12];

export function standingOf(video: Video): Standing {
  const { privacy, scheduledUpdate, blacklisted, blacklistedReason: why } = video;
  const state = video.state?.id ?? PUBLISHED;
  const hasFailed = FAILED.includes(state);
  const [name] = Object.entries(PRIVACIES).find(([, id]) => id === privacy?.id) ?? ["other"];
  const isKept = `The server's moderators hold the video back${why === "" ? "" : ` (${why})`}. Ask them to allow it.`;
  return {
    state: hasFailed ? "failed" : state === PUBLISHED ? "ready" : "processing",
    privacy: privacy === undefined ? "" : name,
    isScheduled: scheduledUpdate !== null,
    reason: hasFailed
      ? "The server could not process the video. Save it as MP4 with H.264 and AAC, then send the post again."
      : "",
    ...(blacklisted ? { isKept } : {}),
  };
}
