import * as z from "zod";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import { askAs } from "./api.ts";
import { findVideo, mutableOf, Video } from "./video.ts";

const Status = z.looseObject({ privacyStatus: z.string() });

/** Changes who can see a video, and leaves what else its status says. */
export async function changeVisibility(
  io: PlatformIo,
  id: string,
  wanted: string,
): Promise<{ privacy: string }> {
  const video = await findVideo(io, id, "status");
  if (video === null) throw new PlatformFault("not_sent", "YouTube does not show the video yet.");
  const { publishAt: _over, ...status } = mutableOf(video, "status");
  const answer = await updateVideo(io, id, { status: { ...status, privacyStatus: wanted } });
  return { privacy: Status.safeParse(answer.status).data?.privacyStatus ?? "" };
}

/** Replaces whole parts of a video. */
export function updateVideo(io: PlatformIo, id: string, parts: JsonObject): Promise<Video> {
  const query = { part: Object.keys(parts).join(",") };
  const call = {
    method: "PUT",
    resource: "videos",
    query,
    json: { id, ...parts },
    isIdempotent: true,
  } as const;
  return askAs(io, call, Video);
}
