import type { MediaItem } from "../../src/ports/media.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { PlatformFault, type PlatformResponse } from "../../src/ports/platform-io.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

export const CHUNK_BYTES = 1024 * 1024;

const TUS = { "tus-resumable": "1.0.0" } as const;
const ACCEPTS = {
  kind: "video",
  mimeTypes: ["video/mp4"],
  maxBytes: null,
  maxSeconds: null,
  minAspectRatio: null,
  maxAspectRatio: null,
  maxItems: 1,
} as const;

/** A platform that takes videos by tus 1.0, chunk by chunk, and shows one as soon as it is whole. */
export const tusPlatform: AnyPlatform = scriptedPlatform({
  name: "tus",
  capabilities: {
    ...TEXT_CAPABILITIES,
    reconciles: "session",
    media: { required: true, maxItems: 1, accepts: [{ ...ACCEPTS, mimeTypes: [...ACCEPTS.mimeTypes] }] },
  },
  publish: async (post, io) => {
    const item = await io.media.item(post.mediaUrl);
    const session = await io.effect<string>({
      step: "session",
      request: { size: item.facts.sizeBytes },
      send: async () => begin(io, item.facts.sizeBytes),
      // A session that nobody fills shows nothing.
      reconcile: async () => ({ outcome: "send_again" }),
    });
    await io.effect<boolean>({
      step: "upload",
      request: { session },
      send: async () => upload(io, session, item),
      reconcile: async () => {
        const isWhole = (await offsetOf(io, session)) === item.facts.sizeBytes;
        return isWhole ? { outcome: "done", result: true } : { outcome: "send_again" };
      },
    });
    return { state: "live", platformPostId: session, platformUrl: null };
  },
});

async function begin(io: PublishIo, sizeBytes: number): Promise<string> {
  const url = io.setting("BASE_URL") ?? "";
  const { headers } = await io.request({
    method: "POST",
    url,
    headers: { ...TUS, "upload-length": String(sizeBytes) },
    isIdempotent: true,
  });
  return new URL(headers["location"] ?? "", url).href;
}

async function upload(io: PublishIo, session: string, item: MediaItem): Promise<boolean> {
  const { sizeBytes } = item.facts;
  let offset = await offsetOf(io, session);
  while (offset < sizeBytes) {
    const end = Math.min(offset + CHUNK_BYTES, sizeBytes) - 1;
    const answer = await io.request({
      method: "PATCH",
      url: session,
      headers: {
        ...TUS,
        "upload-offset": String(offset),
        "content-type": "application/offset+octet-stream",
        "content-length": String(end + 1 - offset),
      },
      body: () => item.open({ start: offset, end }),
      isIdempotent: true,
    });
    offset = readOffset(answer);
  }
  return true;
}

async function offsetOf(io: PublishIo, session: string): Promise<number> {
  return readOffset(await io.request({ method: "HEAD", url: session, headers: TUS, isIdempotent: true }));
}

function readOffset({ headers }: PlatformResponse): number {
  const offset = Number(headers["upload-offset"]);
  if (Number.isInteger(offset)) return offset;
  throw new PlatformFault("transient", "The platform does not say how far the upload is.");
}
