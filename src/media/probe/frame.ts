import type { Sharp } from "sharp";
import type { Fill } from "../../domain/accounts/capabilities.ts";
import type { ImageLimits } from "../../ports/media.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

type Aspect = ImageLimits["aspect"];

/** The smallest frame of an allowed shape around a picture. Its own size where its shape is allowed. */
export function frameAround({ width, height }: Size, aspect: Aspect): Size {
  const { min = 0, max = Infinity } = aspect ?? {};
  // A hair less, so that a product that should be whole is not rounded up.
  const up = (length: number): number => Math.ceil(length - 1e-6);
  if (width / height < min) return { width: up(height * min), height };
  if (width / height > max) return { width, height: up(width / max) };
  return { width, height };
}

export function isSameSize(one: Size, other: Size): boolean {
  return one.width === other.width && one.height === other.height;
}

/** How far a picture must be shrunk for its frame to be within the limits; 1 or less. */
export function scaleInto(
  size: Size,
  { aspect, maxWidth = Infinity, maxHeight = Infinity }: ImageLimits,
): number {
  const { min = 0, max = Infinity } = aspect ?? {};
  const framed = {
    width: Math.max(size.width, size.height * min),
    height: Math.max(size.height, size.width / max),
  };
  return Math.min(1, maxWidth / framed.width, maxHeight / framed.height);
}

/** The size of a picture that is shrunk so far; with a frame rounded down, so that this stays within. */
export function scaledTo({ width, height }: Size, scale: number, isFramed: boolean): Size {
  const whole = isFramed ? (length: number): number => Math.floor(length + 1e-6) : Math.round;
  return { width: Math.max(1, whole(width * scale)), height: Math.max(1, whole(height * scale)) };
}

/** Longest side of the picture that a blurred ground is made of: fewer pixels are quick, and blur by themselves. */
const GROUND_PIXELS = 64;
const GROUND_BLUR = 3;

interface Framing {
  readonly frame: Size;
  readonly fill: Fill;
  /** The picture as it came, for the ground. */
  readonly bytes: Buffer;
  open(bytes: Buffer): Sharp;
}

/** A drawn picture in the middle of its frame. */
export async function putInFrame(picture: Sharp, { frame, fill, bytes, open }: Framing): Promise<Sharp> {
  // A pipeline resizes once: this takes the place of what it was drawn with.
  if (fill === "white")
    return picture.resize({ ...frame, fit: "contain", background: "white", withoutEnlargement: false });
  const scale = GROUND_PIXELS / Math.max(frame.width, frame.height);
  const small = scaledTo(frame, Math.min(1, scale), false);
  const ground = await open(bytes)
    .autoOrient()
    .resize({ ...small, fit: "cover" })
    .flatten({ background: "white" })
    .blur(GROUND_BLUR)
    .png()
    .toBuffer();
  const { data, info } = await picture.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return open(ground)
    .resize({ ...frame, fit: "fill" })
    .composite([{ input: data, raw: { width, height, channels } }]);
}
