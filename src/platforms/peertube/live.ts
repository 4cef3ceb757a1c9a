import * as z from "zod";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { type Picture, sendThumbnail, type Standing, type Thumbnail } from "../shared/film/held.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { askOrGone, own, ownOrGone } from "./api.ts";
import { EDITABLE, fieldsOf, type PeertubePost, PRIVACIES, visibilityOf } from "./metadata.ts";
import type { PostInsights } from "../../ports/platform.ts";
import { idReader } from "../shared/live.ts";

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
export function findVideo(io: PlatformIo, id: string): Promise<Video | null> {
  return askOrGone(io, { path: pathOf(id) }, Video);
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

const idOf = idReader("is missing, so the video cannot be found on PeerTube.");

/** Changes what is named of a video, and leaves the rest. "null" takes a field away. */
export async function changeVideo(
  io: PlatformIo,
  id: string,
  fields: Readonly<Record<string, string>>,
  picture?: Picture,
): Promise<void> {
  const texts = Object.entries(fields).map(([name, text]): FormPart => ({ name, text }));
  const file =
    picture === undefined ? [] : [{ name: "thumbnailfile", fileName: "thumbnail.jpg", ...picture }];
  await own(io, {
    ...(picture === undefined ? {} : UPLOAD_TIMES),
    method: "PUT",
    path: pathOf(id),
    multipart: [...texts, ...file],
    isIdempotent: true,
  });
}

/** Servers allow 4 MB as a rule. */
const THUMBNAIL_LIMITS = { maxBytes: 2_000_000, mimeTypes: ["image/jpeg"], maxWidth: 1_280 } as const;

export function thumbnailOf<U extends string | undefined>(
  io: PlatformIo,
  url: U,
): Thumbnail & { readonly url: U } {
  return { url, limits: THUMBNAIL_LIMITS, send: (id, picture) => changeVideo(io, id, {}, picture) };
}

export async function setThumbnail(post: PeertubePost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  await sendThumbnail(io, idOf(post), thumbnailOf(io, thumbnailUrl));
}

/** What was changed on the server meanwhile stays where it is not named. */
export async function edit(post: PeertubePost, changed: readonly string[], io: PublishIo): Promise<object> {
  const wanted = fieldsOf(post);
  const names = Object.entries(EDITABLE).filter(([field]) => changed.includes(field));
  const texts = names.flatMap(([, name]) => textsOf(name, wanted[name]));
  const privacy = changed.includes("visibility") ? [["privacy", String(PRIVACIES[visibilityOf(post)])]] : [];
  await changeVideo(io, idOf(post), Object.fromEntries([...texts, ...privacy]));
  return {};
}

function textsOf(name: string, value: string | number | boolean | string[] | undefined): [string, string][] {
  if (Array.isArray(value) && value.length > 0) return value.map((one, at) => [`${name}[${at}]`, one]);
  return [[name, value === undefined || Array.isArray(value) ? "null" : String(value)]];
}

export async function insights(post: PeertubePost, io: PlatformIo): Promise<PostInsights> {
  const video = await findVideo(io, idOf(post));
  if (video === null) return { state: "removed", visibility: null, metrics: {} };
  const { state, privacy, isKept } = standingOf(video);
  const { views, likes, comments } = video;
  const known = Object.entries({ views, likes, comments }).filter(([, count]) => count !== undefined);
  const shown = privacy === "private" ? "private" : "live";
  const standing = state === "processing" ? "processing" : shown;
  return {
    state: state === "failed" || isKept !== undefined ? "rejected" : standing,
    visibility: privacy || null,
    metrics: Object.fromEntries(known),
  };
}

/** What is gone already is no error. */
export async function remove(post: PeertubePost, io: PlatformIo): Promise<void> {
  await ownOrGone(io, { method: "DELETE", path: pathOf(idOf(post)), isIdempotent: true });
}
