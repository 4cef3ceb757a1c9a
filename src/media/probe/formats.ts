import { fileTypeFromBuffer } from "file-type";
import { AppError } from "../../domain/errors.ts";
import type { MediaFormat } from "../../ports/media-probe.ts";

export const HEAD_BYTES = 64 * 1024;

/** What is taken, by file-type's names: what sharp, mediabunny or `document.ts` can read. Not HEIC, AVI, SVG. */
const FORMATS: Readonly<Record<string, MediaFormat>> = {
  "image/jpeg": { mimeType: "image/jpeg", type: "image", extension: "jpg" },
  "image/png": { mimeType: "image/png", type: "image", extension: "png" },
  "image/apng": { mimeType: "image/png", type: "image", extension: "png" },
  "image/gif": { mimeType: "image/gif", type: "image", extension: "gif" },
  "image/webp": { mimeType: "image/webp", type: "image", extension: "webp" },
  "image/avif": { mimeType: "image/avif", type: "image", extension: "avif" },
  "image/tiff": { mimeType: "image/tiff", type: "image", extension: "tiff" },
  "video/mp4": { mimeType: "video/mp4", type: "video", extension: "mp4" },
  "video/x-m4v": { mimeType: "video/mp4", type: "video", extension: "m4v" },
  "video/3gpp": { mimeType: "video/3gpp", type: "video", extension: "3gp" },
  "video/quicktime": { mimeType: "video/quicktime", type: "video", extension: "mov" },
  "video/webm": { mimeType: "video/webm", type: "video", extension: "webm" },
  "video/matroska": { mimeType: "video/x-matroska", type: "video", extension: "mkv" },
  "video/mp2t": { mimeType: "video/mp2t", type: "video", extension: "ts" },
  "audio/mpeg": { mimeType: "audio/mpeg", type: "audio", extension: "mp3" },
  "audio/mp4": { mimeType: "audio/mp4", type: "audio", extension: "m4a" },
  "audio/x-m4a": { mimeType: "audio/mp4", type: "audio", extension: "m4a" },
  "audio/aac": { mimeType: "audio/aac", type: "audio", extension: "aac" },
  "audio/wav": { mimeType: "audio/wav", type: "audio", extension: "wav" },
  "audio/flac": { mimeType: "audio/flac", type: "audio", extension: "flac" },
  "audio/ogg": { mimeType: "audio/ogg", type: "audio", extension: "ogg" },
  "audio/ogg; codecs=opus": { mimeType: "audio/ogg", type: "audio", extension: "opus" },
  "application/pdf": { mimeType: "application/pdf", type: "document", extension: "pdf" },
};

/** A table of posts, to be imported. No platform takes one as a medium. */
const TABLE: MediaFormat = { mimeType: "text/csv", type: "other", extension: "csv" };

/** They belong to a film. https://www.w3.org/TR/webvtt1; SRT has no specification. */
const WEBVTT: MediaFormat = { mimeType: "text/vtt", type: "other", extension: "vtt" };
const SRT: MediaFormat = { mimeType: "application/x-subrip", type: "other", extension: "srt" };

/** What the first bytes say it is, not name or header. Throws `invalid` for what is not taken. */
export async function identify(head: Uint8Array): Promise<MediaFormat> {
  const found = await fileTypeFromBuffer(head);
  const format = found === undefined ? textFormat(head) : formatOf(found.mime);
  if (format === undefined) throw unknownFormat(head);
  return format;
}

function formatOf(mimeType: string): MediaFormat | undefined {
  return mimeType === WEBVTT.mimeType ? WEBVTT : FORMATS[mimeType];
}

function textFormat(head: Uint8Array): MediaFormat | undefined {
  if (FIRST_CUE.test(Buffer.from(head.subarray(0, 256)).toString("latin1"))) return SRT;
  return isTable(head) ? TABLE : undefined;
}

/** A number, then a span of time; a byte order mark may stand before it. */
const FIRST_CUE =
  /^(?:\xEF\xBB\xBF)?\s{0,20}\d{1,6}[ \t]{0,8}\r?\n\d{1,3}:\d\d:\d\d[,.]\d{1,3} {0,4}--> {0,4}\d/;

/** A first row of several columns. */
const HEAD_ROW = /^\u{FEFF}?(?:sep=.\r?\n)?[^\r\n<{[]{0,4000}[,;\t][^\r\n<]{0,4000}\r?\n/u;

/** Plain text whose first row has columns. Programs and web pages have other beginnings. */
function isTable(head: Uint8Array): boolean {
  const encoding = head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    // The last character may be cut in two.
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    return HEAD_ROW.test(text) && !/[^\P{Cc}\t\r\n]/u.test(text);
  } catch {
    return false;
  }
}

function unknownFormat(head: Uint8Array): AppError {
  const extensions = [...new Set(Object.values(FORMATS).map((format) => format.extension))].join(", ");
  const isPage = /^\s*(<!doctype html|<html|<\?xml|<svg)/i.test(
    Buffer.from(head.subarray(0, 512)).toString("latin1"),
  );
  const what = isPage
    ? "is a web page or an SVG drawing, not a media file"
    : "is no picture, video, sound or document of a kind that can be posted";
  return new AppError(
    "invalid",
    `The content ${what}. What counts is the content, not the name. Give one of ${extensions}.`,
  );
}
