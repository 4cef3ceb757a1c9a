import { readFileSync } from "node:fs";
import type { MediaSource } from "../../../src/ports/media.ts";
import { createMemoryMedia, type MemoryMedia } from "../memory-media.ts";
import { pdfOf } from "../pdf.ts";

export const PHOTO_URL = "https://media.example/photo.jpg";
export const CLIP_URL = "https://media.example/clip.mp4";

export const SUBTITLES_URL = "https://media.example/clip.srt";
/** "A score" is what it is called. */
export const PDF_URL = "https://media.example/A%20score.pdf";

export const PHOTO = {
  bytes: readFileSync(new URL("../../fixtures/photo.jpg", import.meta.url)),
  mimeType: "image/jpeg",
  width: 64,
  height: 48,
};

export const CLIP = {
  bytes: readFileSync(new URL("../../fixtures/clip.mp4", import.meta.url)),
  mimeType: "video/mp4",
};

export const SUBTITLES = {
  bytes: Buffer.from("1\r\n00:00:00,500 --> 00:00:01,500\r\nA <i>horn</i> & more\r\n"),
  mimeType: "application/x-subrip",
};
export const PDF = { bytes: pdfOf({ pages: 3 }), mimeType: "application/pdf", pages: 3 };

/** Metadata of a post with a second picture. */
export const PICTURES = { altText: "A horn", moreMedia: [{ url: PHOTO_URL, altText: "The same horn" }] };

/** A picture, a film with its subtitles, and a document, at their addresses. */
export function createStageMedia(): MediaSource {
  return createMemoryMedia(
    new Map<string, MemoryMedia>([
      [PHOTO_URL, PHOTO],
      [CLIP_URL, CLIP],
      [SUBTITLES_URL, SUBTITLES],
      [PDF_URL, PDF],
    ]),
  );
}
