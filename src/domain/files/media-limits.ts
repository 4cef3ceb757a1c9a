import * as z from "zod";
import { acceptedFor, type AcceptedMedia } from "../accounts/capabilities.ts";
import { plural } from "../text/plain-text.ts";
import { FILE_TYPES } from "./file.ts";
import { FILM_TYPE, type FilmForm, formOfFilm } from "./film-form.ts";

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
  /** Of a video, on average. Left out, or null: not known. */
  framesPerSecond: z.number().nullable().optional(),
  /** A picture of several frames. */
  isAnimated: z.boolean(),
});
export type MediaFigures = Readonly<z.infer<typeof MediaFigures>>;

/** What can be made of media here: each by something that may not be installed. */
export interface MediaSkills {
  /** Pictures are shrunk, turned, made anew and freed of what tells where they were taken. */
  readonly pictures: boolean;
  /** Of HEIC, too. */
  readonly heic: boolean;
  readonly films: boolean;
}

export const EVERY_SKILL: MediaSkills = { pictures: true, heic: true, films: true };
export const HEIC_TYPE = "image/heic";

/** Why a picture is refused where none is changed. */
export const NOT_UNCHANGED =
  "shows pictures unchanged from their own addresses. This one is too large, of another type, or shows where it was taken. Give another.";

interface MediaVerdict {
  /** Why it cannot be sent, each to follow the name of a field: "has 12 bytes, and may have 10". */
  readonly problems: readonly string[];
  /** What is done to a picture or film before it is sent: "shrunk to 10 × 20". */
  readonly changes: readonly string[];
  /** What a film is made; null where it is sent as it is, or not at all. */
  readonly film: FilmForm | null;
}

/** Rules that nothing but another file can satisfy, in the order in which they are told. */
const RULES: readonly ((media: MediaFigures, limits: AcceptedMedia) => string | null)[] = [
  ({ durationSeconds }, { maxSeconds = null }) =>
    durationSeconds !== null && maxSeconds !== null && durationSeconds > maxSeconds
      ? `lasts ${plural(Math.round(durationSeconds), "second")}, and may last ${maxSeconds}`
      : null,
  ({ durationSeconds }, { minSeconds = 0 }) =>
    durationSeconds !== null && durationSeconds < minSeconds
      ? `lasts ${plural(Math.round(durationSeconds), "second")}, and must last at least ${minSeconds}`
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
  (media, limits) => (isShownStill(media, limits) ? ANIMATED : null),
];

const ANIMATED = "is animated, and must be a still picture, or a video";

/** What keeps the frames of a picture that has several. */
const MOVING_TYPES: readonly string[] = ["image/gif", "image/webp"];

/** It moves, and what is taken does not. */
function isShownStill(
  { isAnimated, mimeType }: MediaFigures,
  { animated = true, mimeTypes }: AcceptedMedia,
): boolean {
  if (!isAnimated) return false;
  return !animated || ![mimeType, ...MOVING_TYPES].some((type) => mimeTypes.includes(type));
}

/** The media as it is sent: an animated GIF is a film where films are taken, and none that moves. */
export function asSent(media: MediaFigures, accepts: readonly AcceptedMedia[]): MediaFigures {
  if (media.mimeType !== "image/gif" || !media.isAnimated) return media;
  const limits = acceptedFor(media, accepts);
  if (limits !== undefined && !isShownStill(media, limits)) return media;
  const film: MediaFigures = { ...media, type: "video", isAnimated: false };
  return accepts.some(({ kind }) => kind === "video") ? film : media;
}

/** Rules that pictures are made to satisfy, and films where they are converted; sounds must by themselves. */
const FITTED_RULES: readonly ((
  media: MediaFigures,
  limits: AcceptedMedia,
  film: FilmForm | null,
) => { problem: string; change: string } | null)[] = [
  ({ mimeType }, { mimeTypes }) =>
    mimeTypes.includes(mimeType)
      ? null
      : {
          problem: `is ${mimeType}, and must be ${mimeTypes.join(" or ")}`,
          change: `re-encoded from ${mimeType} as ${targetOf(mimeTypes)}`,
        },
  ({ videoCodec }, { videoCodecs }) =>
    videoCodec === null || videoCodecs === undefined || videoCodecs.includes(videoCodec)
      ? null
      : {
          problem: `has ${videoCodec} video, and must have ${videoCodecs.join(" or ")}`,
          change: `given avc video instead of ${videoCodec}`,
        },
  ({ audioCodec }, { audioCodecs }) =>
    audioCodec === null || audioCodecs === undefined || audioCodecs.includes(audioCodec)
      ? null
      : {
          problem: `has ${audioCodec} sound, and must have ${audioCodecs.join(" or ")}`,
          change: `given aac sound instead of ${audioCodec}`,
        },
  ({ framesPerSecond = null }, { minFramesPerSecond = 0, maxFramesPerSecond = Infinity }) => {
    if (framesPerSecond === null) return null;
    // Of 59.94, or of what a telephone records at about 60.
    const rate = Math.round(framesPerSecond);
    if (rate >= minFramesPerSecond && rate <= maxFramesPerSecond) return null;
    const limit = rate > maxFramesPerSecond ? maxFramesPerSecond : minFramesPerSecond;
    return {
      problem: `has ${rate} frames a second, and must have ${rate > limit ? "at most" : "at least"} ${limit}`,
      change: `brought from ${rate} to ${limit} frames a second`,
    };
  },
  (media, limits, film) => {
    const { maxWidth = Infinity, maxHeight = Infinity, maxPixels = Infinity } = limits;
    const { width, height } = media;
    if (width === null || height === null) return null;
    if (width <= maxWidth && height <= maxHeight && width * height <= maxPixels) return null;
    const scale = Math.min(maxWidth / width, maxHeight / height, Math.sqrt(maxPixels / (width * height)));
    const fitted = film ?? { width: Math.round(width * scale), height: Math.round(height * scale) };
    const most = maxPixels === Infinity ? `${maxWidth} × ${maxHeight}` : `of ${maxPixels} pixels`;
    return {
      problem: `is ${sizeOf(media)}, and may be ${most}`,
      change: shrunk(media, fitted),
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

const SHRUNK = "shrunk from";

type Size = Pick<MediaFigures, "width" | "height">;

function shrunk(from: Size, to: Size): string {
  return `${SHRUNK} ${sizeOf(from)} to ${sizeOf(to)}`;
}

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

/** Holds media to what a platform takes of its kind, and to what can be made of it. */
export function checkMedia(
  given: MediaFigures,
  accepts: readonly AcceptedMedia[],
  skills: MediaSkills,
): MediaVerdict {
  const sent = asSent(given, accepts);
  // Without a way to make it a film it stays what it is.
  const media = skills.films ? sent : given;
  const limits = acceptedFor(media, accepts);
  if (limits === undefined) {
    const kinds = [...new Set(accepts.map(({ kind }) => kind))].join(" or ");
    return refused([`is of type ${media.type}, and must be ${kinds === "" ? "left out" : kinds}`]);
  }
  const film = skills.films && media.type === "video" ? formOfFilm(media, limits) : null;
  const lasting = RULES.flatMap((rule) => rule(media, limits) ?? []);
  const fitted = FITTED_RULES.flatMap((rule) => rule(media, limits, film) ?? []);
  const problems = [...fitted.map(({ problem }) => problem), ...lasting];
  if (fitted.length === 0) return refused(lasting);
  if (film === null && !(media.type === "image" && changesPicture(media, skills))) return refused(problems);
  const changes = fitted.map(({ change }) => change);
  const isShrunk = film !== null && film.width < (media.width ?? 0);
  if (isShrunk && !changes.some((one) => one.startsWith(SHRUNK))) changes.push(shrunk(media, film));
  return { problems: lasting, changes, film: lasting.length === 0 ? film : null };
}

function refused(problems: readonly string[]): MediaVerdict {
  return { problems, changes: [], film: null };
}

/** Whether a picture can be made another one. */
export function changesPicture(
  { mimeType, isAnimated }: MediaFigures,
  { pictures, heic }: MediaSkills,
): boolean {
  // A PNG that moves is read as a still one, so nothing made of it would move.
  if (isAnimated && mimeType === "image/png") return false;
  return mimeType === HEIC_TYPE ? heic : pictures;
}

/** What a film is made, or a still, opaque picture; JPEG is what everybody shows. */
function targetOf(mimeTypes: readonly string[]): string {
  return (
    mimeTypes.find((type) => type === FILM_TYPE || type === "image/jpeg") ??
    mimeTypes.find((type) => type === "image/webp") ??
    mimeTypes[0] ??
    ""
  );
}

/** What is made to fit the shape, rather than refused for it. */
function getsBars({ type }: MediaFigures, { fill }: AcceptedMedia): boolean {
  return type === "video" || (type === "image" && fill !== undefined);
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
  return width === null || !height ? null : width / height;
}

function sizeOf({ width, height }: Size): string {
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
