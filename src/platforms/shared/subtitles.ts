import { buffer } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";
import type { MediaFigures } from "../../domain/files/media-limits.ts";
import type { Subtitles } from "../../domain/posts/common-metadata.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { inOrder } from "./media.ts";

const FORMATS = { vtt: "text/vtt", srt: "application/x-subrip" } as const;

/** They are held whole. */
const MAX_BYTES = 2_000_000;

interface Limits {
  /** What the platform takes; the other one is rewritten. Left out: either, as it is. */
  readonly format?: keyof typeof FORMATS;
  readonly maxBytes?: number;
}

interface WithSubtitles {
  readonly mediaUrl: string;
  readonly metadata: { readonly subtitles?: readonly Subtitles[] | undefined };
}

/** Subtitles as they are sent, in UTF-8. */
export interface WrittenSubtitles extends Subtitles {
  /** In the post's metadata. */
  readonly field: string;
  readonly bytes: Buffer;
}

function fieldOf(at: number): string {
  return `metadata.subtitles[${at}].url`;
}

/** What is wrong with the files of the owner's among them, and with subtitles of what is no film. */
export function checkSubtitles(
  { mediaUrl, metadata: { subtitles = [] } }: WithSubtitles,
  media: ReadonlyMap<string, MediaFigures>,
  { format, maxBytes = MAX_BYTES }: Limits = {},
): string[] {
  if (subtitles.length === 0) return [];
  const type = media.get(mediaUrl)?.type ?? "video";
  if (mediaUrl === "" || type !== "video")
    return ["metadata.subtitles: belong to a video, and the post has none. Leave them out, or give a video."];
  return subtitles.flatMap(({ url }, at) => {
    const file = media.get(url);
    if (file === undefined) return [];
    const isRewritten = format !== undefined && file.mimeType !== FORMATS[format];
    return problemOf(file, isRewritten ? MAX_BYTES : maxBytes).map((problem) => `${fieldOf(at)}: ${problem}`);
  });
}

type Facts = Pick<MediaFigures, "mimeType" | "sizeBytes">;

function problemOf({ mimeType, sizeBytes }: Facts, maxBytes: number): string[] {
  if (!Object.values<string>(FORMATS).includes(mimeType))
    return [`is ${mimeType}, and must be a WebVTT or an SRT file. Give another file.`];
  return sizeBytes > maxBytes
    ? [`has ${sizeBytes} bytes, and subtitles may have ${maxBytes}. Give a smaller file.`]
    : [];
}

/** Reads all of them, in the format that the platform takes. Throws `invalid` naming the field. */
export function readSubtitles(
  { subtitles = [] }: WithSubtitles["metadata"],
  io: Pick<PublishIo, "media">,
  { format, maxBytes = MAX_BYTES }: Limits = {},
): Promise<WrittenSubtitles[]> {
  return inOrder(subtitles, async (one, at) => {
    const field = fieldOf(at);
    const item = await io.media.item(one.url);
    const isRewritten = format !== undefined && item.facts.mimeType !== FORMATS[format];
    for (const problem of problemOf(item.facts, isRewritten ? MAX_BYTES : maxBytes))
      throw new AppError("invalid", `${field}: ${problem}`);
    const given = await readText(item.open(), field);
    const bytes = Buffer.from(isRewritten ? write(cuesOf(given, field), format) : given);
    for (const problem of problemOf({ ...item.facts, sizeBytes: bytes.length }, maxBytes))
      throw new AppError("invalid", `${field}: ${problem}`);
    return { ...one, field, bytes };
  });
}

/** Without a byte order mark. */
async function readText(body: NodeJS.ReadableStream, field: string): Promise<string> {
  const content = await buffer(body);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch (cause) {
    const why = `${field}: the subtitles are not in UTF-8. Save the file as UTF-8, then give it again.`;
    throw new AppError("invalid", why, { cause });
  }
}

/** A line or two, and when they are seen; times in milliseconds. */
interface Cue {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Hours may be left out; a comma or a point stands before the milliseconds. */
const TIMES =
  /^\s{0,20}(?:(\d{1,4}):)?(\d{1,2}):(\d\d)[.,](\d{1,3})[ \t]{0,8}-->[ \t]{0,8}(?:(\d{1,4}):)?(\d{1,2}):(\d\d)[.,](\d{1,3})/;

/** What both formats have: comments, styles and places are left out. */
function cuesOf(content: string, field: string): Cue[] {
  const blocks = content.replaceAll(/\r\n?/g, "\n").split(/\n{2,}/);
  const cues = blocks.flatMap((block): Cue[] => {
    const lines = block.split("\n");
    const at = lines.findIndex((line) => TIMES.test(line));
    const times = TIMES.exec(lines[at] ?? "");
    if (times === null) return [];
    const shown = lines.slice(at + 1).join("\n");
    return [
      { from: momentOf(times.slice(1, 5)), to: momentOf(times.slice(5, 9)), text: withoutStyles(shown) },
    ];
  });
  if (cues.length > 0) return cues;
  throw new AppError("invalid", `${field}: the file holds no subtitles. Give another file.`);
}

function momentOf([hours = "0", minutes = "0", seconds = "0", rest = "0"]: readonly (
  string | undefined
)[]): number {
  return (
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 + Number(rest.padEnd(3, "0"))
  );
}

/** Bold, italic and underlined are known to both formats. */
function withoutStyles(shown: string): string {
  return shown
    .replaceAll(/<(?!\/?[biu]>)[/a-z\d][^<>\n]{0,300}>/gi, "")
    .replaceAll(/\{\\[^{}\n]{1,100}\}/g, "")
    .trimEnd();
}

function write(cues: readonly Cue[], format: keyof typeof FORMATS): string {
  const blocks = cues.map(({ from, to, text: shown }, at) =>
    format === "srt"
      ? `${at + 1}\n${clock(from, ",")} --> ${clock(to, ",")}\n${unescaped(shown)}\n`
      : `${clock(from, ".")} --> ${clock(to, ".")}\n${escaped(shown)}\n`,
  );
  return [...(format === "vtt" ? ["WEBVTT\n"] : []), ...blocks].join("\n");
}

function clock(ms: number, point: string): string {
  const two = (count: number): string => String(Math.floor(count)).padStart(2, "0");
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map(two);
  return `${hours}:${minutes}:${seconds}${point}${String(ms % 1_000).padStart(3, "0")}`;
}

/** Signs with a meaning in WebVTT. */
function escaped(shown: string): string {
  return shown.replaceAll("&", "&amp;").replaceAll(/<(?!\/?[biu]>)/g, "&lt;");
}

const NAMED: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " " };

function unescaped(shown: string): string {
  return shown.replaceAll(/&(?:amp|lt|gt|nbsp);/g, (sign) => NAMED[sign] ?? "");
}
