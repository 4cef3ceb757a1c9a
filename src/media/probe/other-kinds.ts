import { AppError } from "../../domain/errors.ts";
import type { MediaFormat } from "../../ports/media-probe.ts";
import { isAnimation } from "./plain-image.ts";

/*
 * Kinds of files that people have and that are not taken: a refusal names what it saw, and what to send instead.
 */

const [PICTURE, FILM, SOUND, DOCUMENT, TABLE] = [
  "Send it as JPEG or PNG.",
  "Send it as MP4.",
  "Send it as MP3 or M4A.",
  "Send it as PDF.",
  "Save it as CSV (UTF-8), and send that.",
];
const ITSELF = "Give the picture, video, sound or document itself.";
const UNPACKED = "Unpack it, and send the files that are in it.";

/** By file-type's names; a name that ends in `*` stands for all that begin so. */
const KINDS: readonly (readonly [type: string, what: string, instead: string])[] = [
  ["image/bmp", "a BMP picture", PICTURE],
  ["image/jxl", "a JPEG XL picture", PICTURE],
  ["image/jp2", "a JPEG 2000 picture", PICTURE],
  ["image/jpx", "a JPEG 2000 picture", PICTURE],
  ["image/jpm", "a JPEG 2000 picture", PICTURE],
  ["image/j2c", "a JPEG 2000 picture", PICTURE],
  ["image/mj2", "a video of JPEG 2000 pictures", FILM],
  ["image/jls", "a JPEG-LS picture", PICTURE],
  ["image/vnd.ms-photo", "a JPEG XR picture", PICTURE],
  ["image/vnd.adobe.photoshop", "a Photoshop file (PSD)", PICTURE],
  ["image/x-xcf", "a GIMP file (XCF)", PICTURE],
  ["image/x-icon", "an icon (ICO)", PICTURE],
  ["image/icns", "an icon of macOS (ICNS)", PICTURE],
  ["image/flif", "a FLIF picture", PICTURE],
  ["image/bpg", "a BPG picture", PICTURE],
  ["image/heic-sequence", "a HEIC that moves", "Send it as a video (MP4), or one of its pictures as JPEG."],
  ["image/heif-sequence", "a HEIF that moves", "Send it as a video (MP4), or one of its pictures as JPEG."],
  ["image/x-*", "a camera's raw picture", PICTURE],
  ["image/*", "a picture of a kind that is not taken", PICTURE],
  ["video/vnd.avi", "an AVI video", FILM],
  ["video/x-flv", "a Flash video (FLV)", FILM],
  ["video/x-ms-asf", "a Windows Media file (WMV, WMA)", "Send it as MP4 or MP3."],
  ["audio/x-ms-asf", "a Windows Media sound (WMA)", SOUND],
  ["application/vnd.ms-asf", "a Windows Media file (WMV, WMA)", "Send it as MP4 or MP3."],
  ["video/ogg", "an Ogg video (Theora)", FILM],
  ["application/ogg", "an Ogg file of a kind that is not taken", "Send it as MP4 or MP3."],
  ["video/mpeg", "an MPEG video (MPG)", FILM],
  ["video/mp*", "an MPEG video (MPG)", FILM],
  ["application/mxf", "an MXF video", FILM],
  ["application/vnd.rn-realmedia", "a RealMedia file", FILM],
  ["video/*", "a video of a kind that is not taken", FILM],
  ["audio/aiff", "an AIFF sound", SOUND],
  ["audio/midi", "a MIDI file", SOUND],
  ["audio/amr", "an AMR sound", SOUND],
  ["audio/*", "a sound of a kind that is not taken", SOUND],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.*", "an Excel workbook", TABLE],
  ["application/vnd.ms-excel*", "an Excel workbook", TABLE],
  ["application/vnd.oasis.opendocument.spreadsheet*", "an OpenDocument table (ODS)", TABLE],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.*", "a Word document", DOCUMENT],
  ["application/vnd.ms-word*", "a Word document", DOCUMENT],
  ["application/vnd.openxmlformats-officedocument.presentationml.*", "a PowerPoint document", DOCUMENT],
  ["application/vnd.ms-powerpoint*", "a PowerPoint document", DOCUMENT],
  ["application/vnd.oasis.opendocument.*", "an OpenDocument file", DOCUMENT],
  ["application/x-cfb", "an old Office file (DOC, XLS, PPT)", DOCUMENT],
  ["application/epub+zip", "an e-book (EPUB)", DOCUMENT],
  ["application/x-mobipocket-ebook", "an e-book (MOBI)", DOCUMENT],
  ["application/rtf", "an RTF document", DOCUMENT],
  ["application/postscript", "a PostScript file", DOCUMENT],
  ["application/eps", "an EPS drawing", "Send it as PNG or PDF."],
  ["application/x-indesign", "an InDesign document", DOCUMENT],
  ["application/zip", "a ZIP archive", UNPACKED],
  ["application/x-rar-compressed", "a RAR archive", UNPACKED],
  ["application/x-7z-compressed", "a 7-Zip archive", UNPACKED],
  ["application/gzip", "a gzip archive", UNPACKED],
  ["application/x-tar", "a TAR archive", UNPACKED],
  ["application/x-msdownload", "a Windows program (EXE)", ITSELF],
  ["application/x-elf", "a Linux program", ITSELF],
  ["application/x-mach-binary", "a macOS program", ITSELF],
];

/** By their first characters; file-type does not tell texts apart, nor all of JPEG 2000. */
const TEXTS: readonly (readonly [beginning: RegExp, what: string, instead: string])[] = [
  [
    /^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,500}-->\s*)*(?:<!doctype svg[^>]{0,300}>\s*)?<svg[\s>]/i,
    "an SVG drawing",
    "Send it as PNG.",
  ],
  [/^\s*(?:<!doctype html|<html|<head|<body)/i, "a web page", "Give the address of the file itself."],
  [/^\s*<\?xml/i, "an XML file", ITSELF],
  [/^[^]{4}jP {2}\r\n[^]\n/, "a JPEG 2000 picture", PICTURE],
  [/^#EXTM3U/, "a playlist", "Give the video or sound itself."],
  [/^\s*[{[]\s*["{[\]}]/, "a JSON file", ITSELF],
];

/** How far into a file texts are told by what they begin with. */
const TEXT_BYTES = 1_024;

interface Unknown {
  readonly head: Uint8Array;
  /** As file-type calls it. */
  readonly mimeType: string | undefined;
  readonly name: string | null;
  /** Of what is taken. */
  readonly endings: readonly string[];
}

/** The refusal of a file, by its beginning. */
export function refusedKind({ head, mimeType, name, endings }: Unknown): AppError {
  const beginning = Buffer.from(head.subarray(0, TEXT_BYTES))
    .toString("latin1")
    .replace(/^\xEF\xBB\xBF/, "");
  const [, what, instead] =
    TEXTS.find(([pattern]) => pattern.test(beginning)) ??
    KINDS.find(([type]) => mimeType !== undefined && isOf(mimeType, type)) ??
    unlisted(mimeType, beginning) ??
    [];
  const ending = endingOf(name);
  // Its name promises what is taken: another list of names would not help. A text is whole: `.ts` may be a program.
  const isBinary = head.subarray(0, TEXT_BYTES).some((byte) => byte < 9);
  if (what === undefined && isBinary && endings.includes(ending))
    return new AppError(
      "invalid",
      `The file is damaged: it is called .${ending}, and its content is no picture, video, sound or document. Export it again.`,
    );
  const sentence =
    what === undefined
      ? "The content is no picture, video, sound or document of a kind that can be posted."
      : `This is ${what}. ${instead}`;
  return new AppError(
    "invalid",
    `${sentence} What counts is the content, not the name.${what === undefined ? ` Give one of ${endings.join(", ")}.` : ""}`,
  );
}

/** Of what stands in no list. */
function unlisted(mimeType: string | undefined, beginning: string): (typeof KINDS)[number] | null {
  if (mimeType !== undefined) return [mimeType, `a file of the type ${mimeType}`, ITSELF];
  const isText = beginning.trim() !== "" && !/[^\P{Cc}\t\r\n\f]/u.test(beginning);
  return isText ? ["text/plain", "plain text", "Write it into the post, or send it as PDF."] : null;
}

const OTHER_ENDINGS: Readonly<Record<string, string>> = { jpeg: "jpg", heif: "heic", tif: "tiff" };

function endingOf(name: string | null): string {
  const ending = /\.(\w{1,8})$/.exec(name ?? "")?.[1]?.toLowerCase() ?? "";
  return OTHER_ENDINGS[ending] ?? ending;
}

function isOf(mimeType: string, type: string): boolean {
  return type.endsWith("*") ? mimeType.toLowerCase().startsWith(type.slice(0, -1)) : mimeType === type;
}

/** What an Ogg stream begins with; those of Vorbis and Opus are read. https://wiki.xiph.org/MIMETypesCodecs */
const OGG_CODECS: readonly (readonly [sign: string, name: string | null])[] = [
  ["\x01vorbis", null],
  ["OpusHead", null],
  ["\x7fFLAC", "FLAC in Ogg"],
  ["Speex", "Speex in Ogg"],
  ["\x80theora", "Theora in Ogg"],
  ["", "Ogg with another codec than Opus and Vorbis"],
];
const OGG_SEGMENTS_AT = 26;
const TS_PACKET_BYTES = 188;

/** What a container holds that nothing here reads, by its beginning. Null: nothing that is known, so it is damaged. */
function unreadIn(head: Uint8Array, mimeType: string): string | null {
  const bytes = Buffer.from(head);
  if (mimeType === "image/avif") return isAnimation(bytes, mimeType) ? "an AVIF sequence" : null;
  if (mimeType === "audio/ogg") {
    const start = OGG_SEGMENTS_AT + 1 + (bytes[OGG_SEGMENTS_AT] ?? 0);
    const stream = bytes.toString("latin1", start, start + 8);
    return OGG_CODECS.find(([sign]) => stream.startsWith(sign))?.[1] ?? null;
  }
  if (mimeType === "video/mp2t")
    return bytes[0] === 0x47 && bytes[TS_PACKET_BYTES] === 0x47
      ? "MPEG-TS with other codecs than those of today's videos"
      : null;
  const isOld = mimeType === "video/quicktime" && bytes.toString("latin1", 4, 8) !== "ftyp";
  return isOld ? "QuickTime without a file type, as old cameras write it" : null;
}

const INSTEAD: Readonly<Record<string, string>> = { audio: SOUND, video: FILM, image: PICTURE };

/** The refusal of what has a kind, and nothing that reads it. What is not understood is not called damaged. */
export function unreadable(format: MediaFormat, head: Uint8Array, cause: unknown): AppError {
  const { type, mimeType } = format;
  const kind = unreadIn(head, mimeType);
  if (kind === null) return damagedMedia(format, cause);
  const what = type === "image" ? "picture" : type;
  const sentence = `The ${what} is of a kind that cannot be read here (${kind}). ${INSTEAD[type] ?? ""}`;
  return new AppError("invalid", sentence, { cause });
}

export function damagedMedia({ type, mimeType, extension }: MediaFormat, cause: unknown): AppError {
  const what = type === "image" ? `The picture (${extension.toUpperCase()})` : `The ${type} (${mimeType})`;
  return new AppError("invalid", `${what} is damaged or cut off and cannot be read. Export it again.`, {
    cause,
  });
}
