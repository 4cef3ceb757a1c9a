import * as z from "zod";
import { SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import type { FaultRule } from "../shared/faults.ts";
import { call } from "./api.ts";

const Registered = z.looseObject({
  media_id: z.string(),
  upload_url: z.string(),
  upload_parameters: z.record(z.string(), z.string()),
});

const Handle = z.object({ mediaId: z.string() });

const CHECK_AGAIN_MS = 5 * SECOND;

/** The film is being processed: nothing to do but to ask again. */
export class StillProcessing extends Error {
  readonly checkAgainMs = CHECK_AGAIN_MS;
}

/** Brings a film to Pinterest, where nobody sees it before it is pinned; gives the id it is pinned by. */
export async function uploadVideo(item: MediaItem, io: PublishIo): Promise<string> {
  const done = await io.effect<JsonObject>({
    step: "upload",
    request: { url: item.url },
    send: async ({ saveHandle }) => {
      const asked = {
        method: "POST",
        path: "/media",
        json: { media_type: "video" },
        isIdempotent: true,
      } as const;
      const registered = await call(io, asked, Registered);
      await saveHandle({ mediaId: registered.media_id });
      await sendFile(item, registered, io);
      return { mediaId: registered.media_id };
    },
    settle: async ({ handle }) => {
      const mediaId = Handle.safeParse(handle).data?.mediaId;
      const status = mediaId === undefined ? null : await statusOf(mediaId, io);
      return mediaId === undefined || status === null || status === "registered"
        ? { outcome: "send_again" }
        : { outcome: "done", result: { mediaId } };
    },
    isGone: async (result) => (await statusOf(Handle.parse(result).mediaId, io)) === null,
  });
  return Handle.parse(done).mediaId;
}

/** A form of S3's: all that was given, then the file. */
async function sendFile(item: MediaItem, to: z.infer<typeof Registered>, io: PublishIo): Promise<void> {
  const { sizeBytes, mimeType } = item.facts;
  const parameters = Object.entries(to.upload_parameters).map(([name, text]) => ({ name, text }));
  await io.request({
    ...UPLOAD_TIMES,
    method: "POST",
    url: to.upload_url,
    multipart: [
      ...parameters,
      { name: "file", fileName: "video.mp4", mimeType, sizeBytes, open: () => item.open() },
    ],
    isIdempotent: true,
  });
}

/** Throws StillProcessing until Pinterest is done with it. */
export async function requireReady(mediaId: string, io: PublishIo): Promise<void> {
  const status = await statusOf(mediaId, io);
  if (status === "succeeded") return;
  if (status === "failed") {
    throw new PlatformFault(
      "rejected",
      "Pinterest could not process the film. It takes MP4 and MOV of 4 seconds to 15 minutes. Convert it, then send the post again.",
    );
  }
  throw new StillProcessing("The film is being processed.");
}

/** An error has a status too, of another meaning. */
const Media = z.looseObject({ code: z.int().optional(), status: z.string().optional() });

/** Null where Pinterest has no such upload (any more). */
async function statusOf(mediaId: string, io: PublishIo): Promise<string | null> {
  const rules: FaultRule[] = [{ status: 404, kind: "ok" }];
  const { code, status = null } = await call(io, { path: `/media/${mediaId}`, rules }, Media);
  return code === undefined ? status : null;
}
