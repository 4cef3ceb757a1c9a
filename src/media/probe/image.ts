import { createRequire } from "node:module";
import type { Metadata, Sharp } from "sharp";
import type sharpModule from "sharp";
import { AppError } from "../../domain/errors.ts";
import { HEIC_TYPE, type MediaSkills } from "../../domain/files/media-limits.ts";
import type { FittedImage, ImageLimits } from "../../ports/media.ts";
import type { MediaFormat } from "../../ports/media-probe.ts";
import { decodeHeic, readsHeic } from "./heic.ts";
import { assertDecodable } from "./picture-memory.ts";
import { frameAround, isSameSize, putInFrame, scaledTo, scaleInto } from "./frame.ts";
import { unreadable } from "./other-kinds.ts";
import {
  damagedPicture,
  fitPlainImage,
  inspectPlainImage,
  isAnimation,
  tooManyPixels,
} from "./plain-image.ts";

const require = createRequire(import.meta.url);

/** Pictures are held whole while they are worked on. */
export const MAX_IMAGE_BYTES = 64 * 1024 * 1024;

const TIMEOUT_SECONDS = 30;

/** sharp's names of the formats that `formats.ts` takes. AVIF and HEIC are kinds of HEIF. */
const SHARP_FORMATS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpeg",
  "image/png": "png",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "heif",
  [HEIC_TYPE]: "heif",
  "image/tiff": "tiff",
};

/** Whether a picture is transparent anywhere is looked up at this size: less of it is not seen. */
const ALPHA_PIXELS = 2_048;

const sharp = loadSharp();

/** What can be made of pictures here. */
export function pictureSkills(): Omit<MediaSkills, "films"> {
  return { pictures: sharp !== null, heic: sharp !== null && readsHeic() };
}

interface ImageFigures {
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** Of a GIF that moves. */
  readonly durationSeconds?: number;
  readonly framesPerSecond?: number;
}

/** Size as shown, with the orientation applied. Decodes the picture, and throws `invalid` if it is damaged. */
export async function inspectImage(bytes: Buffer, format: MediaFormat): Promise<ImageFigures> {
  const { mimeType } = format;
  if (sharp === null) return inspectPlainImage(bytes, format);
  const metadata = await guarded(open(bytes).metadata()).catch((error: unknown) => {
    // Sequences have no main picture.
    throw isAnimation(bytes, mimeType) ? unreadable(format, bytes, error) : error;
  });
  if (metadata.format !== SHARP_FORMATS[mimeType])
    throw damagedPicture(new Error(`is ${metadata.format}, not ${mimeType}`));
  assertDecodable(metadata);
  if (mimeType !== HEIC_TYPE || readsHeic()) {
    const plain = await asReadable(bytes, mimeType, metadata);
    await guarded(open(plain).resize(16, 16, { fit: "inside" }).raw().toBuffer());
  }
  const isMoving = isAnimated(metadata, bytes, mimeType);
  return {
    ...metadata.autoOrient,
    isAnimated: isMoving,
    ...(isMoving && mimeType === "image/gif" ? timesOf(metadata.delay ?? []) : {}),
  };
}

/** Shorter ones are taken for a mistake: browsers and ffmpeg show the frame for a tenth of a second. */
const SHORTEST_DELAY_MS = 20;
const USUAL_DELAY_MS = 100;

function timesOf(delays: readonly number[]): Pick<ImageFigures, "durationSeconds" | "framesPerSecond"> {
  const ms = delays.reduce((sum, one) => sum + (one < SHORTEST_DELAY_MS ? USUAL_DELAY_MS : one), 0);
  if (ms === 0) return {};
  return { durationSeconds: ms / 1_000, framesPerSecond: Math.round((delays.length * 1e6) / ms) / 1_000 };
}

/** The picture in a form that sharp can decode. Throws `invalid` where HEIC cannot be read here. */
async function asReadable(bytes: Buffer, mimeType: string, { icc }: Metadata): Promise<Buffer> {
  if (mimeType !== HEIC_TYPE) return bytes;
  if (readsHeic()) return decodeHeic(bytes, icc);
  throw new AppError(
    "invalid",
    "The picture is HEIC, which cannot be read here: libheif-js is not installed. Send it as JPEG, or install Posthorn with its optional packages.",
  );
}

/** Several pages of these are those of a scanned document, or pictures beside the main one. */
const STILL_TYPES: readonly string[] = ["image/tiff", HEIC_TYPE];

/** Of a PNG that moves libvips sees one page. */
function isAnimated(metadata: Metadata, bytes: Buffer, mimeType: string): boolean {
  return (
    ((metadata.pages ?? 1) > 1 && !STILL_TYPES.includes(mimeType)) ||
    (mimeType === "image/png" && isAnimation(bytes, mimeType))
  );
}

/** The picture within the limits, changed as little as needed, without personal metadata. */
export async function fitImage(given: Buffer, mimeType: string, limits: ImageLimits): Promise<FittedImage> {
  if (sharp === null) return fitPlainImage(given, mimeType, limits);
  const metadata = await guarded(open(given).metadata());
  if (isWithin(metadata, { bytes: given, mimeType }, limits)) {
    const { width, height } = metadata;
    return { bytes: given, mimeType, width, height, isChanged: false };
  }
  assertDecodable(metadata);
  const bytes = await asReadable(given, mimeType, metadata);
  const isTransparent = metadata.hasAlpha && (await hasTransparentPixels(bytes));
  const isMoving = isAnimated(metadata, bytes, mimeType);
  const ways = waysOf(mimeType, { isTransparent, isMoving }, limits.mimeTypes);
  const { aspect } = limits;
  const first = scaleInto(metadata.autoOrient, limits);
  for (const scale of SCALES) {
    const size = scaledTo(metadata.autoOrient, first * scale, aspect !== undefined);
    const frame = frameAround(size, aspect);
    for (const { mimeType: type, keepsAlpha, encode } of ways) {
      const drawn = draw(bytes, { size, isMoving, isFlat: !keepsAlpha });
      // Moving pictures get white bars: a ground of each frame would flicker.
      const fill = isMoving ? "white" : aspect?.fill;
      const isWhole = fill === undefined || isSameSize(frame, size);
      const picture = isWhole ? drawn : await guarded(putInFrame(drawn, { frame, fill, bytes, open }));
      const { data, info } = await guarded(encode(picture).toBuffer({ resolveWithObject: true }));
      if (data.length > limits.maxBytes) continue;
      return {
        bytes: data,
        mimeType: type,
        width: info.width,
        height: info.pageHeight ?? info.height,
        isChanged: true,
      };
    }
  }
  throw new AppError(
    "invalid",
    `The picture cannot be brought to ${limits.maxBytes} bytes as ${limits.mimeTypes.join(" or ")}. Give a smaller or simpler one.`,
  );
}

/** Of a picture that is looked at small. */
const SMALL_QUALITY = 75;

/** A still picture within a square as WebP, without metadata. Null where sharp is not installed. */
export async function shrinkImage(bytes: Buffer, mimeType: string, side: number): Promise<Buffer | null> {
  if (sharp === null) return null;
  const metadata = await guarded(open(bytes).metadata());
  assertDecodable(metadata);
  const plain = await asReadable(bytes, mimeType, metadata);
  const drawn = draw(plain, { size: { width: side, height: side }, isMoving: false, isFlat: false });
  return guarded(drawn.webp({ quality: SMALL_QUALITY }).toBuffer());
}

/** sharp's own figures would hold the whole picture for it. */
async function hasTransparentPixels(bytes: Buffer): Promise<boolean> {
  const small = open(bytes).resize(ALPHA_PIXELS, ALPHA_PIXELS, { fit: "inside", withoutEnlargement: true });
  const alpha = await guarded(small.extractChannel("alpha").raw({ depth: "uchar" }).toBuffer());
  return alpha.some((value) => value < 255);
}

function isWithin(
  metadata: Metadata,
  image: { bytes: Buffer; mimeType: string },
  limits: ImageLimits,
): boolean {
  const isPlain = [metadata.exif, metadata.xmp, metadata.iptc].every((part) => part === undefined);
  return (
    isPlain &&
    (metadata.orientation ?? 1) === 1 &&
    limits.mimeTypes.includes(image.mimeType) &&
    image.bytes.length <= limits.maxBytes &&
    metadata.width <= (limits.maxWidth ?? Infinity) &&
    metadata.height <= (limits.maxHeight ?? Infinity) &&
    isSameSize(frameAround(metadata, limits.aspect), metadata)
  );
}

interface Way {
  readonly mimeType: string;
  readonly keepsAlpha: boolean;
  readonly keepsFrames: boolean;
  encode(picture: Sharp): Sharp;
}

const SCALES: readonly number[] = [1, 0.8, 0.64, 0.5, 0.4, 0.32, 0.25, 0.2, 0.125, 0.0625];

/** Below 60 the loss is plain to see; a smaller picture looks better then. */
const QUALITIES: readonly number[] = [92, 85, 78, 70, 60];

const way = (mimeType: string, keeps: readonly ("alpha" | "frames")[], encode: Way["encode"]): Way => ({
  mimeType,
  keepsAlpha: keeps.includes("alpha"),
  keepsFrames: keeps.includes("frames"),
  encode,
});

const PNG = way("image/png", ["alpha"], (picture) => picture.png({ compressionLevel: 9 }));
const GIF = way("image/gif", ["alpha", "frames"], (picture) => picture.gif());
const JPEGS = QUALITIES.map((quality) =>
  way("image/jpeg", [], (picture) => picture.jpeg({ quality, mozjpeg: quality < 92 })),
);
const WEBPS = QUALITIES.map((quality) =>
  way("image/webp", ["alpha", "frames"], (picture) => picture.webp({ quality })),
);
const AVIFS = [70, 50].map((quality) => way("image/avif", ["alpha"], (picture) => picture.avif({ quality })));

/** In the order to try: the picture's own format, transparency before quality, and JPEG for everybody. */
function waysOf(
  mimeType: string,
  is: { isTransparent: boolean; isMoving: boolean },
  allowed: readonly string[],
): Way[] {
  // A PNG that moves is read as a still one, so nothing made of it would move.
  const every = [GIF, PNG, ...WEBPS, ...AVIFS, ...JPEGS].filter(
    ({ keepsFrames }) => !is.isMoving || (keepsFrames && mimeType !== "image/png"),
  );
  const own = every.filter((one) => one.mimeType === mimeType);
  const others = is.isTransparent ? [...WEBPS, PNG, ...AVIFS, ...JPEGS] : [...JPEGS, ...WEBPS];
  const preferred = [...new Set([...own, ...others])].filter(
    (one) => every.includes(one) && allowed.includes(one.mimeType),
  );
  const ways = preferred.length > 0 ? preferred : every.filter((one) => allowed.includes(one.mimeType));
  if (ways.length > 0) return ways;
  const problem = is.isMoving
    ? `is animated, and would have to become a still one (${allowed.join(" or ")}). Give a still picture, or a video.`
    : `cannot be made one of ${allowed.join(", ")}. Give a picture of such a type.`;
  throw new AppError("invalid", `The picture ${problem}`);
}

/** sharp leaves metadata out unless asked; colours are brought to sRGB. */
function draw(
  bytes: Buffer,
  how: { size: { width: number; height: number }; isMoving: boolean; isFlat: boolean },
): Sharp {
  const picture = open(bytes, how.isMoving)
    .autoOrient()
    .resize({ ...how.size, fit: "inside", withoutEnlargement: true });
  return how.isFlat ? picture.flatten({ background: "white" }) : picture;
}

function open(bytes: Buffer, animated = false): Sharp {
  if (sharp === null) throw new Error("sharp is not installed.");
  // sharp has its own pixel limit (268 million). Truncated data fails instead of turning grey.
  return sharp(bytes, { failOn: "truncated", animated }).timeout({ seconds: TIMEOUT_SECONDS });
}

async function guarded<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    const isTooLarge = cause instanceof Error && cause.message.includes("pixel limit");
    throw isTooLarge ? tooManyPixels(cause) : damagedPicture(cause);
  });
}

/** The picture library. Null where npm did not install it: it is native code, and optional. */
function loadSharp(): typeof sharpModule | null {
  try {
    const loaded = require("sharp") as typeof sharpModule;
    // Nothing is worked on twice, so nothing is kept.
    loaded.cache(false);
    // libvips sniffs for itself. What is not listed here (SVG, PDF, …) it must not even try.
    loaded.block({ operation: ["VipsForeignLoad"] });
    const formats = ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"];
    loaded.unblock({ operation: formats.map((name) => `VipsForeignLoad${name}`) });
    return loaded;
  } catch {
    return null;
  }
}
