import type { AcceptedMedia } from "../accounts/capabilities.ts";

/** What every platform takes that takes films at all. */
export const FILM_TYPE = "video/mp4";
const VIDEO_CODEC = "avc";
const AUDIO_CODEC = "aac";

/** What is known of a film. */
interface Film {
  readonly width: number | null;
  readonly height: number | null;
  readonly durationSeconds: number | null;
  readonly framesPerSecond?: number | null | undefined;
}

/** What a film is made: an MP4 with H.264 (8 bits, 4:2:0) and AAC. Same form, same bytes. */
export interface FilmForm {
  /** Of the picture. Even, as H.264 wants it. */
  readonly width: number;
  readonly height: number;
  /** The picture with its black bars; the same size where it has none. Even. */
  readonly frameWidth: number;
  readonly frameHeight: number;
  /** Null: as it is. */
  readonly framesPerSecond: number | null;
  readonly maxBytes: number | null;
}

/** A film that must be made anew anyway gets no larger: platforms show no more, and it would take hours. */
const LONGEST_SIDE = 1_920;

/** Of a film that is converted: one frame more takes more memory than small machines have. */
export const LONGEST_SOURCE_SIDE = 4_096;

export const SOUND_BITS_PER_SECOND = 128_000;
/** Of a limit in bytes, what the tables of the container and the encoder's swings do not use. */
const USABLE = 0.92;

/** Fewer look like mud: the picture gets smaller instead. */
const BITS_PER_PIXEL = 0.03;
const USUAL_FRAMES_PER_SECOND = 30;
/** Smaller is no picture any more. */
const SHORTEST_SIDE = 144;

/** Encoders use less for anything but noise; it bounds what the disk must hold. */
export const MOST_VIDEO_BITS_PER_SECOND = 20_000_000;

/** What the video may have beside its sound so that the file keeps within its limit; null: no limit. */
export function videoBitsPerSecond(maxBytes: number | null, durationSeconds: number | null): number | null {
  if (maxBytes === null || durationSeconds === null || durationSeconds === 0) return null;
  return Math.floor((maxBytes * 8 * USABLE) / durationSeconds) - SOUND_BITS_PER_SECOND;
}

/** The form of a film that a platform takes. Null: there is none, for example as so few bytes hold no picture. */
export function formOfFilm(media: Film, limits: AcceptedMedia): FilmForm | null {
  const { width, height } = media;
  const { mimeTypes, videoCodecs = [VIDEO_CODEC], audioCodecs = [AUDIO_CODEC], maxBytes = null } = limits;
  const isTaken =
    mimeTypes.includes(FILM_TYPE) && videoCodecs.includes(VIDEO_CODEC) && audioCodecs.includes(AUDIO_CODEC);
  if (!isTaken || width === null || height === null || width * height === 0) return null;
  if (Math.max(width, height) > LONGEST_SOURCE_SIDE) return null;
  const framesPerSecond = rateWithin(media, limits);
  const frame = frameAround(width / height, limits);
  const rate = framesPerSecond ?? media.framesPerSecond ?? USUAL_FRAMES_PER_SECOND;
  const bits = videoBitsPerSecond(maxBytes, media.durationSeconds);
  const { maxWidth = Infinity, maxHeight = Infinity, maxPixels = Infinity } = limits;
  const pixels = Math.min(maxPixels, bits === null ? Infinity : bits / (rate * BITS_PER_PIXEL));
  const scale = Math.min(
    1,
    Math.min(maxWidth, LONGEST_SIDE) / (width * frame.wider),
    Math.min(maxHeight, LONGEST_SIDE) / (height * frame.higher),
    Math.sqrt(Math.max(0, pixels) / (width * frame.wider * height * frame.higher)),
  );
  const size = { width: even(width * scale), height: even(height * scale) };
  if (scale < 1 && Math.min(size.width, size.height) < Math.min(SHORTEST_SIDE, width, height)) return null;
  return {
    ...size,
    frameWidth: frame.wider === 1 ? size.width : evenFrom(size.height * (width / height) * frame.wider),
    frameHeight: frame.higher === 1 ? size.height : evenFrom(size.width * (height / width) * frame.higher),
    framesPerSecond,
    maxBytes,
  };
}

function rateWithin(
  { framesPerSecond = null }: Film,
  { minFramesPerSecond = 0, maxFramesPerSecond = Infinity }: AcceptedMedia,
): number | null {
  if (framesPerSecond === null) return null;
  if (Math.round(framesPerSecond) > maxFramesPerSecond) return maxFramesPerSecond;
  return Math.round(framesPerSecond) < minFramesPerSecond ? minFramesPerSecond : null;
}

/** How many times as wide, or as high, the frame is as the picture, so that its shape is taken. */
function frameAround(ratio: number, { minAspectRatio = null, maxAspectRatio = null }: AcceptedMedia) {
  if (maxAspectRatio !== null && ratio > maxAspectRatio) return { wider: 1, higher: ratio / maxAspectRatio };
  if (minAspectRatio !== null && ratio < minAspectRatio) return { wider: minAspectRatio / ratio, higher: 1 };
  return { wider: 1, higher: 1 };
}

/** Rounded up: a frame is never too narrow for its shape. */
function evenFrom(size: number): number {
  return Math.ceil(size / 2) * 2;
}

/** Rounded down: a limit holds. */
function even(size: number): number {
  return Math.max(2, Math.floor(size / 2) * 2);
}
