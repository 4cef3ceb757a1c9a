import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { fileTypeOf, nameInAddress, titleOfFile } from "../../src/domain/files/file.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { MediaItem, MediaSource } from "../../src/ports/media.ts";

export interface MemoryMedia {
  readonly bytes: Buffer;
  readonly mimeType: string;
  readonly width?: number;
  readonly height?: number;
  readonly pages?: number;
}

/** Media by address, out of a map that a test may change while it runs; pictures count as fitted. */
export function createMemoryMedia(media: Map<string, MemoryMedia>): MediaSource & { released: string[] } {
  const released: string[] = [];
  const bytesOf = (url: string): MemoryMedia => {
    const found = media.get(url);
    if (found === undefined) throw new AppError("invalid", `mediaUrl: nothing is at ${url}.`);
    return found;
  };
  return {
    released,
    release: async (postId) => void released.push(postId),
    forPost: () => ({
      item: async (url, altText) => toItem(url, altText ?? null, bytesOf(url)),
      fitImage: async (item) => {
        const { bytes, mimeType, width, height } = bytesOf(item.url);
        return { bytes, mimeType, width: width ?? 1, height: height ?? 1, isChanged: false };
      },
      publicUrl: async () => {
        throw new AppError("invalid", "This test has no public address.");
      },
    }),
  };
}

function toItem(url: string, altText: string | null, media: MemoryMedia): MediaItem {
  const { bytes, mimeType } = media;
  return {
    url,
    title: titleOfFile(nameInAddress(url)),
    altText,
    facts: {
      mimeType,
      type: fileTypeOf(mimeType),
      sizeBytes: bytes.length,
      width: media.width ?? null,
      height: media.height ?? null,
      durationSeconds: null,
      pages: media.pages ?? null,
      videoCodec: null,
      audioCodec: null,
      isAnimated: false,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    },
    open: (range) => Readable.from([bytes.subarray(range?.start ?? 0, (range?.end ?? bytes.length - 1) + 1)]),
  };
}
