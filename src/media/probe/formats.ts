import { fileTypeFromBuffer } from "file-type";
import type { MediaFormat } from "../../ports/media-probe.ts";
import { refusedKind } from "./other-kinds.ts";

export const HEAD_BYTES = 64 * 1024;

/** What is taken, by file-type's names: what sharp, libheif, mediabunny or `document.ts` can read. */
const FORMATS: Readonly<Record<string, MediaFormat>> = {
  "image/jpeg": { mimeType: "image/jpeg", type: "image", extension: "jpg" },
  "image/png": { mimeType: "image/png", type: "image", extension: "png" },
  "image/apng": { mimeType: "image/png", type: "image", extension: "png" },
  "image/gif": { mimeType: "image/gif", type: "image", extension: "gif" },
  "image/webp": { mimeType: "image/webp", type: "image", extension: "webp" },
  "image/avif": { mimeType: "image/avif", type: "image", extension: "avif" },
  "image/heic": { mimeType: "image/heic", type: "image", extension: "heic" },
  "image/heif": { mimeType: "image/heic", type: "image", extension: "heic" },
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

const ENDINGS = [...new Set(Object.values(FORMATS).map(({ extension }) => extension))];

/** What the first bytes say it is, not name or header. Throws `invalid` for what is not taken, and names it. */
export async function identify(head: Uint8Array, name: string | null = null): Promise<MediaFormat> {
  const found = await fileTypeFromBuffer(head);
  const format = found === undefined ? formatBySign(head) : formatOf(found.mime, head);
  if (format === undefined) throw refusedKind({ head, mimeType: found?.mime, name, endings: ENDINGS });
  return format;
}

function formatOf(mimeType: string, head: Uint8Array): MediaFormat | undefined {
  if (mimeType === WEBVTT.mimeType) return WEBVTT;
  // Some write AVIF under the name of all pictures of this container.
  return FORMATS[mimeType === "image/heif" && brandsOf(head).includes("avif") ? "image/avif" : mimeType];
}

const MAX_BRANDS_BYTES = 256;

/** ISO 14496-12, 4.3: the main brand, its version, then all that the file goes by. */
function brandsOf(head: Uint8Array): string[] {
  const bytes = Buffer.from(head);
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, MAX_BRANDS_BYTES);
  return bytes.toString("latin1", 8, end).match(/.{4}/gs) ?? [];
}

/** TIFF and BigTIFF, of either order of bytes. file-type looks for the directory, which may be at the file's end. */
const TIFF_SIGN = /^(?:II[*+]\0|MM\0[*+])/;

/** Some programs put a line before it; readers look so far (ISO 32000-1, annex H, note 13). */
const PDF_SIGN = /^[^]{0,1019}%PDF-\d/;

function formatBySign(head: Uint8Array): MediaFormat | undefined {
  const beginning = Buffer.from(head.subarray(0, 1_024)).toString("latin1");
  if (TIFF_SIGN.test(beginning)) return FORMATS["image/tiff"];
  if (PDF_SIGN.test(beginning)) return FORMATS["application/pdf"];
  return textFormat(head);
}

const TAG_HEAD_BYTES = 10;

/** https://id3.org/id3v2.4.0-structure, 3.1: where the tag ends that a sound begins with, cover and all. Null: none. */
export function endOfTag(head: Uint8Array): number | null {
  if (head.length < TAG_HEAD_BYTES || Buffer.from(head.subarray(0, 3)).toString("latin1") !== "ID3")
    return null;
  // Seven bits of each byte count.
  const size = head.subarray(6, TAG_HEAD_BYTES).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  const hasFooter = ((head[5] ?? 0) & 0x10) !== 0;
  return TAG_HEAD_BYTES + size + (hasFooter ? TAG_HEAD_BYTES : 0);
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
