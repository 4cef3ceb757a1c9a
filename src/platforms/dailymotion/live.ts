import { AppError } from "../../domain/errors.ts";
import type { Insights } from "../../domain/posts/post.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { AnyAnswer, call, callOrGone } from "./api.ts";
import { type DailymotionPost, EDITABLE, joined, partsOf } from "./metadata.ts";
import { findVideo, stateOf, watchUrl } from "./publish.ts";
import type { EditResult } from "../../ports/platform.ts";
import { idReader } from "../shared/live.ts";

const idOf = idReader("is not the id of a video, so it cannot be found on Dailymotion.", /^\w+$/);

export async function edit(
  post: DailymotionPost,
  changed: readonly string[],
  io: PlatformIo,
): Promise<EditResult> {
  const id = idOf(post);
  const parts = Object.entries(partsOf(post)).filter(
    ([name]) => changed.includes(name) && EDITABLE.includes(name),
  );
  for (const [name, part] of parts)
    if (Object.keys(part).length === 0)
      throw new AppError("conflict", `${name}: cannot be removed on Dailymotion, only changed.`);
  const json = joined(parts.map(([, part]) => part));
  await call(io, { method: "PATCH", path: `/videos/${id}`, json, isIdempotent: true }, AnyAnswer);
  if (!changed.includes("visibility")) return {};
  // A private video has an address that cannot be guessed.
  const isPublic = (post.metadata.visibility ?? "public") === "public";
  const url = isPublic ? watchUrl(id) : (await findVideo(io, id))?.video_url;
  return url === undefined ? {} : { platformUrl: url };
}

/** What is gone already is no error. */
export async function remove(post: DailymotionPost, io: PlatformIo): Promise<void> {
  await callOrGone(io, { method: "DELETE", path: `/videos/${idOf(post)}`, isIdempotent: true }, AnyAnswer);
}

/** Only partners get numbers, in reports. */
export async function insights(
  post: DailymotionPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: object }> {
  const video = await findVideo(io, idOf(post));
  if (video === null) return { state: "removed", visibility: null, metrics: {} };
  const state = stateOf(video);
  const shown = video.visibility === "public" ? "live" : "private";
  return {
    state: state === "failed" ? "rejected" : state === "processing" ? "processing" : shown,
    visibility: video.visibility === "" ? null : video.visibility,
    metrics: {},
  };
}
