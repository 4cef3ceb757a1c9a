import type { Readable } from "node:stream";
import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo } from "../../ports/publish-io.ts";
import { chunkAt, UPLOAD_TIMES, type Chunk } from "../shared/media/chunks.ts";
import { ask, Id, send } from "./api.ts";
import { MEDIA_LIFE_MS, MEDIA_MARGIN_MS } from "./capabilities.ts";

/** Of 1,000 segments at most, none larger than the 5 MB that X took before it had this form. */
const CHUNK_BYTES = 4 * 1024 * 1024;

export type Category = "tweet_image" | "tweet_gif" | "tweet_video" | "amplify_video";

type Content = { readonly bytes: Buffer } | { readonly sizeBytes: number; open(): Readable };

/** A file as it is sent. */
export interface Upload {
  readonly category: Category;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The bytes from `start` to `end`, the last included. */
  contentOf(chunk: Chunk): Content;
}

/** What X knows a file by, until it forgets it. */
export const Uploaded = z.object({
  mediaId: z.string(),
  /** Names it in listings. */
  mediaKey: z.string().nullable(),
  /** Milliseconds since 1970. */
  expiresAt: z.number(),
  isProcessed: z.boolean(),
});
export type Uploaded = z.infer<typeof Uploaded>;

/** An upload that was begun; `sentBytes` of it are there. */
const Session = z.object({ mediaId: Id, mediaKey: z.string().nullable(), sentBytes: z.number() });
type Session = z.infer<typeof Session>;

const Begun = z.looseObject({
  data: z.looseObject({ id: Id, media_key: z.string().nullable().catch(null) }),
});
const Processing = z.looseObject({
  state: z.string().catch(""),
  check_after_secs: z.number().positive().nullable().catch(null),
});
const Ended = z.looseObject({
  data: z.looseObject({
    id: Id,
    media_key: z.string().nullable().catch(null),
    expires_after_secs: z.number().positive().nullable().catch(null),
    processing_info: Processing.nullable().catch(null),
  }),
});

/** X is working on a file: nothing to do but to ask again. */
export class StillProcessing extends Error {
  readonly checkAgainMs: number;

  constructor(seconds: number | null) {
    super("X is working on the media.");
    this.checkAgainMs = Math.min(Math.max((seconds ?? 5) * SECOND, SECOND), MINUTE);
  }
}

/** Sends a file once; nobody sees it before a post names it, so it may be sent again. */
export async function uploadOnce(
  io: PublishIo,
  { step, request, open }: { step: string; request: JsonObject; open(): Promise<Upload> },
): Promise<Uploaded> {
  const stored = await io.effect<JsonObject>({
    step,
    request,
    send: async (context) => ({ ...(await run(io, await open(), context)) }),
    settle: async () => ({ outcome: "send_again" }),
    isGone: async (result) => io.now() > Uploaded.parse(result).expiresAt - MEDIA_MARGIN_MS,
  });
  const media = Uploaded.parse(stored);
  if (!media.isProcessed) await io.once(`processed:${media.mediaId}`, () => assertProcessed(io, media));
  return media;
}

/** Goes on where it broke off; a session that X has forgotten is begun anew. */
async function run(io: PublishIo, upload: Upload, context: EffectContext): Promise<Uploaded> {
  const begun = Session.safeParse(context.handle);
  if (!begun.success) return append(io, upload, { context, session: await begin(io, upload) });
  try {
    return await append(io, upload, { context, session: begun.data });
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    return append(io, upload, { context, session: await begin(io, upload) });
  }
}

async function begin(io: PublishIo, { category, mimeType, sizeBytes }: Upload): Promise<Session> {
  const { data } = await ask(
    io,
    {
      method: "POST",
      path: "/2/media/upload/initialize",
      json: { media_category: category, media_type: mimeType, total_bytes: sizeBytes },
      isIdempotent: true,
    },
    Begun,
  );
  return { mediaId: data.id, mediaKey: data.media_key, sentBytes: 0 };
}

interface Running {
  readonly context: EffectContext;
  readonly session: Session;
}

async function append(io: PublishIo, upload: Upload, { context, session }: Running): Promise<Uploaded> {
  const cut = { totalBytes: upload.sizeBytes, chunkBytes: CHUNK_BYTES };
  await context.saveHandle(session);
  let chunk = chunkAt({ ...cut, from: session.sentBytes });
  while (chunk !== null) {
    const file = { name: "media", fileName: "media", mimeType: "application/octet-stream" };
    await send(io, {
      ...UPLOAD_TIMES,
      method: "POST",
      path: `/2/media/upload/${session.mediaId}/append`,
      multipart: [
        { name: "segment_index", text: String(chunk.index) },
        { ...file, ...upload.contentOf(chunk) },
      ],
      // A segment that comes twice is stored once.
      isIdempotent: true,
    });
    await context.saveHandle({ ...session, sentBytes: chunk.end + 1 });
    chunk = chunkAt({ ...cut, from: chunk.end + 1 });
  }
  return finalize(io, session);
}

async function finalize(io: PublishIo, { mediaId, mediaKey }: Session): Promise<Uploaded> {
  const path = `/2/media/upload/${mediaId}/finalize`;
  const { data } = await ask(io, { method: "POST", path, isIdempotent: true }, Ended);
  const lifeMs = Math.min((data.expires_after_secs ?? Infinity) * SECOND, MEDIA_LIFE_MS);
  return {
    mediaId,
    mediaKey: data.media_key ?? mediaKey,
    expiresAt: io.now() + lifeMs,
    isProcessed: data.processing_info === null || data.processing_info.state === "succeeded",
  };
}

async function assertProcessed(io: PublishIo, { mediaId }: Uploaded): Promise<true> {
  const query = { command: "STATUS", media_id: mediaId };
  const { data } = await ask(io, { method: "GET", path: "/2/media/upload", query }, Ended);
  const { state = "succeeded", check_after_secs: seconds = null } = data.processing_info ?? {};
  if (state === "succeeded") return true;
  if (state !== "failed") throw new StillProcessing(seconds);
  throw new PlatformFault(
    "rejected",
    "X could not process the video or GIF. Use an MP4 with H.264 video and AAC sound of at most 60 frames a second and 1280 × 1024 pixels.",
    { field: "mediaUrl" },
  );
}
