import { buffer } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";
import type { ByteSource, MediaFormat, ProbedMedia } from "../../ports/media-probe.ts";
import { HEAD_BYTES, identify } from "./formats.ts";

/** What the bytes themselves say. Throws `invalid` for content that is not taken, damaged, or a bomb. */
export async function probe(source: ByteSource): Promise<ProbedMedia> {
  if (source.sizeBytes === 0) throw new AppError("invalid", "The file is empty. Give one with content.");
  const format = await identify(await readFirst(source, Math.min(HEAD_BYTES, source.sizeBytes)));
  if (format.type === "image") return probeImage(source, format);
  const { probeTracks } = await import("./tracks.ts");
  return probeTracks(source, format);
}

async function probeImage(source: ByteSource, format: MediaFormat): Promise<ProbedMedia> {
  const { inspectImage, MAX_IMAGE_BYTES } = await import("./image.ts");
  if (source.sizeBytes > MAX_IMAGE_BYTES) {
    throw new AppError(
      "invalid",
      `The picture has ${source.sizeBytes} bytes. Pictures may have at most ${MAX_IMAGE_BYTES}.`,
    );
  }
  const found = await inspectImage(await readFirst(source, source.sizeBytes), format);
  return {
    mimeType: format.mimeType,
    type: "image",
    ...found,
    durationSeconds: null,
    videoCodec: null,
    audioCodec: null,
  };
}

async function readFirst(source: ByteSource, bytes: number): Promise<Buffer> {
  return buffer(source.read({ start: 0, end: bytes - 1 }));
}
