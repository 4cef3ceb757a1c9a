import { AppError } from "../../domain/errors.ts";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import type { FaultRule } from "../shared/faults.ts";
import { sendThumbnail, type Picture, type Thumbnail } from "../shared/film/thumbnail.ts";
import { own } from "./api.ts";
import { checkPost, EDITABLE, fieldsOf, PRIVACIES, visibilityOf, type PeertubePost } from "./metadata.ts";
import { findVideo, pathOf, standingOf } from "./video.ts";

/** Throws `conflict` for a post that has no id. */
function idOf({ platformPostId }: PeertubePost): string {
  if (platformPostId !== null && platformPostId !== "") return platformPostId;
  throw new AppError("conflict", "platformPostId: is missing, so the video cannot be found on PeerTube.");
}

/** Changes what is named of a video, and leaves the rest. "null" takes a field away. */
export async function changeVideo(
  io: PlatformIo,
  id: string,
  fields: Readonly<Record<string, string>>,
  picture?: Picture,
): Promise<void> {
  const texts = Object.entries(fields).map(([name, text]): FormPart => ({ name, text }));
  const file =
    picture === undefined
      ? []
      : [
          {
            name: "thumbnailfile",
            fileName: "thumbnail.jpg",
            mimeType: picture.mimeType,
            bytes: picture.bytes,
          },
        ];
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
  const [problem] = checkPost(post).errors;
  if (problem !== undefined) throw new AppError("invalid", problem);
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

export async function insights(
  post: PeertubePost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> }> {
  const video = await findVideo(io, idOf(post));
  if (video === null) return { state: "removed", visibility: null, metrics: {} };
  const { state, privacy, isKept } = standingOf(video);
  const { views, likes, comments } = video;
  const known = Object.entries({ views, likes, comments }).filter(([, count]) => count !== undefined);
  return {
    state:
      state === "failed" || isKept !== undefined
        ? "rejected"
        : state === "processing"
          ? "processing"
          : privacy === "private"
            ? "private"
            : "live",
    visibility: privacy === "" ? null : privacy,
    metrics: Object.fromEntries(known),
  };
}

/** What is gone already is no error. */
export async function remove(post: PeertubePost, io: PlatformIo): Promise<void> {
  const rules: readonly FaultRule[] = [{ status: 404, kind: "ok" }];
  await own(io, { method: "DELETE", path: pathOf(idOf(post)), isIdempotent: true, rules });
}
