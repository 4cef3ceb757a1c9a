import * as z from "zod";
import { acceptedFor, type AcceptedMedia } from "../accounts/capabilities.ts";
import { FILE_TYPES } from "./file.ts";

/** What is known of a picture, video, sound or document. Null where it is not known, or there is no such thing. */
export const MediaFigures = z.strictObject({
  mimeType: z.string(),
  type: z.enum(FILE_TYPES),
  sizeBytes: z.int(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  durationSeconds: z.number().nullable(),
  /** Of a document. */
  pages: z.number().nullable(),
  videoCodec: z.string().nullable(),
  audioCodec: z.string().nullable(),
  /** A picture of several frames. */
  isAnimated: z.boolean(),
});
export type MediaFigures = Readonly<z.infer<typeof MediaFigures>>;

interface MediaVerdict {
  /** Why it cannot be sent, each to follow the name of a field: "has 12 bytes, and may have 10". */
  readonly problems: readonly string[];
  /** What is done to a picture before it is sent: "shrunk to 10 × 20". */
  readonly changes: readonly string[];
}

/** Rules that nothing but another file can satisfy, in the order in which they are told. */
const RULES: readonly ((media: MediaFigures, limits: AcceptedMedia) => string | null)[] = [
  ({ durationSeconds }, { maxSeconds = null }) =>
    durationSeconds !== null && maxSeconds !== null && durationSeconds > maxSeconds
      ? `lasts ${Math.round(durationSeconds)} seconds, and may last ${maxSeconds}`
      : null,
  ({ durationSeconds }, { minSeconds = 0 }) =>
    durationSeconds !== null && durationSeconds < minSeconds
      ? `lasts ${Math.round(durationSeconds)} seconds, and must last at least ${minSeconds}`
      : null,
  ({ pages }, { maxPages }) =>
    pages !== null && maxPages !== undefined && pages > maxPages
      ? `has ${pages} pages, and may have ${maxPages}`
      : null,
  (media, limits) => (getsBars(media, limits) ? null : shapeProblem(media, limits)),
  (media, { minWidth = 0, minHeight = 0 }) =>
    media.width !== null && media.height !== null && (media.width < minWidth || media.height < minHeight)
      ? `is ${sizeOf(media)}, and must be at least ${minWidth} × ${minHeight}`
      : null,
  ({ videoCodec }, { videoCodecs }) =>
    videoCodec !== null && videoCodecs !== undefined && !videoCodecs.includes(videoCodec)
      ? `has ${videoCodec} video, and must have ${videoCodecs.join(" or ")}`
      : null,
  ({ audioCodec }, { audioCodecs }) =>
    audioCodec !== null && audioCodecs !== undefined && !audioCodecs.includes(audioCodec)
      ? `has ${audioCodec} sound, and must have ${audioCodecs.join(" or ")}`
      : null,
  ({ isAnimated }, { animated = true }) =>
    isAnimated && !animated ? "is animated, and must be a still picture, or a video" : null,
];

/** Rules that a picture is made to satisfy; any other file must satisfy them by itself. */
const FITTED_RULES: readonly ((
  media: MediaFigures,
  limits: AcceptedMedia,
) => { problem: string; change: string } | null)[] = [
  ({ mimeType }, { mimeTypes }) =>
    mimeTypes.includes(mimeType)
      ? null
      : {
          problem: `is ${mimeType}, and must be ${mimeTypes.join(" or ")}`,
          change: `re-encoded from ${mimeType} as ${targetOf(mimeTypes)}`,
        },
  (media, { maxWidth = Infinity, maxHeight = Infinity }) => {
    const { width, height } = media;
    if (width === null || height === null || (width <= maxWidth && height <= maxHeight)) return null;
    const scale = Math.min(maxWidth / width, maxHeight / height);
    const fitted = `${Math.round(width * scale)} × ${Math.round(height * scale)}`;
    return {
      problem: `is ${sizeOf(media)}, and may be ${maxWidth} × ${maxHeight}`,
      change: `shrunk from ${sizeOf(media)} to ${fitted}`,
    };
  },
  (media, limits) => {
    const problem = getsBars(media, limits) ? shapeProblem(media, limits) : null;
    return problem === null ? null : { problem, change: `given bars (it ${problem})` };
  },
  ({ sizeBytes }, { maxBytes = null }) =>
    maxBytes === null || sizeBytes <= maxBytes
      ? null
      : {
          problem: `has ${sizeBytes} bytes, and may have ${maxBytes}`,
          change: `brought from ${sizeBytes} bytes to at most ${maxBytes}`,
        },
];

/** The kind of media that a post has too many items of, as far as they are known. Null: none. */
export function checkCounts(
  items: readonly Pick<MediaFigures, "type" | "mimeType">[],
  accepts: readonly AcceptedMedia[],
): string | null {
  for (const entry of accepts) {
    const { kind, maxItems, mimeTypes } = entry;
    const count = items.filter((item) => acceptedFor(item, accepts) === entry).length;
    const isOnly = accepts.every((other) => other === entry || other.kind !== kind);
    const type = isOnly ? kind : `${kind} (${mimeTypes.join(", ")})`;
    if (count > maxItems) return `makes ${count} items of type ${type}, and may make ${maxItems}`;
  }
  return null;
}

/** Holds media to what a platform takes of its kind. */
export function checkMedia(media: MediaFigures, accepts: readonly AcceptedMedia[]): MediaVerdict {
  const limits = acceptedFor(media, accepts);
  if (limits === undefined) {
    const kinds = [...new Set(accepts.map(({ kind }) => kind))].join(" or ");
    return {
      problems: [`is of type ${media.type}, and must be ${kinds === "" ? "left out" : kinds}`],
      changes: [],
    };
  }
  const lasting = RULES.flatMap((rule) => rule(media, limits) ?? []);
  const fitted = FITTED_RULES.flatMap((rule) => rule(media, limits) ?? []);
  if (media.type === "image") return { problems: lasting, changes: fitted.map(({ change }) => change) };
  return { problems: [...fitted.map(({ problem }) => problem), ...lasting], changes: [] };
}

/** What a still, opaque picture is made; JPEG is what everybody shows. */
function targetOf(mimeTypes: readonly string[]): string {
  return (
    mimeTypes.find((type) => type === "image/jpeg") ??
    mimeTypes.find((type) => type === "image/webp") ??
    mimeTypes[0] ??
    ""
  );
}

/** A picture that is made to fit the shape, rather than refused for it. */
function getsBars({ type }: MediaFigures, { fill }: AcceptedMedia): boolean {
  return type === "image" && fill !== undefined;
}

function shapeProblem(media: MediaFigures, limits: AcceptedMedia): string | null {
  const { minAspectRatio = null, maxAspectRatio = null } = limits;
  const ratio = aspectOf(media);
  if (ratio !== null && maxAspectRatio !== null && ratio > maxAspectRatio)
    return `is ${sizeOf(media)}, which is too wide (at most ${maxAspectRatio} times as wide as high)`;
  if (ratio !== null && minAspectRatio !== null && ratio < minAspectRatio)
    return `is ${sizeOf(media)}, which is too tall (at least ${minAspectRatio} times as wide as high)`;
  return null;
}

function aspectOf({ width, height }: MediaFigures): number | null {
  return width === null || height === null || height === 0 ? null : width / height;
}

function sizeOf({ width, height }: MediaFigures): string {
  return `${width} × ${height}`;
}

/** Why an answer is not the media that was asked for. `isLasting`: asking again would not help. */
export interface MediaProblem {
  readonly isLasting: boolean;
  /** Begins with a small letter, for a subject to be put before it. */
  readonly reason: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Statuses of the 4xx that pass by themselves. */
const PASSING: readonly number[] = [408, 425, 429];

/** What is wrong with an answer that should hold media, before its body is read; null: nothing. */
export function problemOfAnswer(answer: Answer, maxBytes: number): MediaProblem | null {
  const { status, headers } = answer;
  if (status !== 200) {
    const isLasting = status < 500 && !PASSING.includes(status);
    return {
      isLasting,
      reason: `the address answers with HTTP ${status}. It must answer with the file itself`,
    };
  }
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    return {
      isLasting: true,
      reason:
        "the address sends the file compressed, although it was asked not to. Use one that sends it as it is",
    };
  }
  const sizeBytes = declaredBytes(headers);
  return sizeBytes !== null && sizeBytes > maxBytes ? tooLarge(maxBytes) : null;
}

export function tooLarge(maxBytes: number): MediaProblem {
  return { isLasting: true, reason: `the file is larger than ${maxBytes} bytes. Give a smaller one` };
}

/** `Content-Length`, or null where there is none. */
export function declaredBytes(headers: Readonly<Record<string, string>>): number | null {
  const text = headers["content-length"];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
