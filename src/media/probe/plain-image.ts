import { imageSize } from "image-size";
import { AppError } from "../../domain/errors.ts";
import type { FittedImage, ImageLimits } from "../../ports/media.ts";
import type { MediaFormat } from "../../ports/media-probe.ts";
import { frameAround, isSameSize } from "./frame.ts";

/** image-size's names of the formats that `formats.ts` takes. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  "image/jpeg": ["jpg"],
  "image/png": ["png"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
  "image/avif": ["avif", "heif"],
  "image/heic": ["heic", "heif"],
  "image/tiff": ["tiff"],
};

/** Where to look in the file for what says that it moves. */
const SIGNS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  // https://www.w3.org/TR/png-3/#animation-information: the chunk comes before the picture's data.
  "image/png": (bytes) => {
    const control = bytes.indexOf("acTL", 0, "latin1");
    return control > 0 && control < bytes.indexOf("IDAT", 0, "latin1");
  },
  // The extension that tells how often to repeat; pictures of one frame have none.
  "image/gif": (bytes) =>
    bytes.includes("NETSCAPE2.0", 0, "latin1") || bytes.includes("ANIMEXTS1.0", 0, "latin1"),
  // https://developers.google.com/speed/webp/docs/riff_container#extended_file_format: a flag.
  "image/webp": (bytes) =>
    bytes.subarray(12, 16).toString("latin1") === "VP8X" && ((bytes[20] ?? 0) & 0x02) !== 0,
  "image/avif": (bytes) => bytes.subarray(8, 12).toString("latin1") === "avis",
};

export function isAnimation(bytes: Buffer, mimeType: string): boolean {
  return SIGNS[mimeType]?.(bytes) ?? false;
}

/** sharp's own limit, so that the same pictures are refused with and without it. */
const MAX_PIXELS = 268_402_689;

/** From this orientation on a picture lies on its side: https://exiftool.org/TagNames/EXIF.html, 0x0112. */
const FIRST_SIDEWAYS = 5;

const METADATA_MARKS = ["Exif\0\0", "eXIf", "EXIF", "http://ns.adobe.com/xap/", "XML:com.adobe.xmp", "XMP "];

interface PlainSize {
  readonly width: number;
  readonly height: number;
  readonly isTurned: boolean;
}

/** What the header says of a picture that is not decoded. Throws `invalid` for a damaged header. */
export function inspectPlainImage(
  bytes: Buffer,
  format: MediaFormat,
): { width: number; height: number; isAnimated: boolean } {
  const { width, height } = readSize(bytes, format.mimeType);
  if (width * height > MAX_PIXELS) throw tooManyPixels();
  return { width, height, isAnimated: isAnimation(bytes, format.mimeType) };
}

/** The picture as it is. Throws `invalid`, with the reason, where it would have to be changed first. */
export function fitPlainImage(bytes: Buffer, mimeType: string, limits: ImageLimits): FittedImage {
  const size = readSize(bytes, mimeType);
  const reason = reasonToChange(bytes, { ...size, mimeType }, limits);
  if (reason === null) return { bytes, mimeType, width: size.width, height: size.height, isChanged: false };
  throw new AppError(
    "invalid",
    `The picture ${reason}, and this Posthorn cannot change pictures: sharp is not installed. Give one that fits, or install Posthorn with its optional packages.`,
  );
}

function reasonToChange(
  bytes: Buffer,
  image: PlainSize & { readonly mimeType: string },
  limits: ImageLimits,
): string | null {
  const { maxBytes, mimeTypes, maxWidth = Infinity, maxHeight = Infinity } = limits;
  if (!mimeTypes.includes(image.mimeType))
    return `is ${image.mimeType} where ${mimeTypes.join(" or ")} is taken`;
  if (bytes.length > maxBytes) return `has ${bytes.length} bytes where ${maxBytes} are taken`;
  if (image.width > maxWidth || image.height > maxHeight)
    return `is ${image.width} × ${image.height}, which is too large`;
  if (!isSameSize(frameAround(image, limits.aspect), image))
    return `is ${image.width} × ${image.height}, which is too wide or too tall`;
  if (image.isTurned) return "is stored turned";
  // Where and with what it was taken must not be published.
  if (METADATA_MARKS.some((mark) => bytes.includes(mark, 0, "latin1")))
    return "carries personal metadata (EXIF or XMP)";
  return null;
}

function readSize(bytes: Buffer, mimeType: string): PlainSize {
  const { width, height, type, orientation = 1 } = measure(bytes);
  if (type === undefined || TYPES[mimeType]?.includes(type) !== true)
    throw damagedPicture(new Error(`is ${type}, not ${mimeType}`));
  const isSideways = orientation >= FIRST_SIDEWAYS;
  return {
    width: isSideways ? height : width,
    height: isSideways ? width : height,
    isTurned: orientation !== 1,
  };
}

function measure(bytes: Buffer): ReturnType<typeof imageSize> {
  try {
    return imageSize(bytes);
  } catch (cause) {
    throw damagedPicture(cause);
  }
}

export function tooManyPixels(cause?: unknown): AppError {
  const text = "The picture has too many pixels (more than 268 million). Give a smaller one.";
  return new AppError("invalid", text, { cause });
}

/** Of a picture whose kind is told by who asked for it. */
export const DAMAGED = "The picture is damaged or cut off and cannot be read. Export it again.";

export function damagedPicture(cause: unknown): AppError {
  return new AppError("invalid", DAMAGED, { cause });
}
