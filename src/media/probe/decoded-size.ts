import type { Metadata } from "sharp";
import { AppError } from "../../domain/errors.ts";

const MiB = 1024 * 1024;

/** What a picture may take that is held whole while it is worked on. */
const MAX_DECODED_BYTES = 256 * MiB;

/** libvips's names of the types of a sample, by their bytes. */
const SAMPLE_BYTES: Readonly<Record<string, number>> = {
  uchar: 1,
  char: 1,
  ushort: 2,
  short: 2,
  uint: 4,
  int: 4,
  float: 4,
  complex: 8,
  double: 8,
  dpcomplex: 16,
};

interface Kind {
  readonly name: string;
  /** How many times the size of its samples is needed. */
  readonly times: number;
}

/** Bytes of a coefficient, and samples of colour to one of light; 4:4:4 where it is not known. */
const JPEG_TIMES: Readonly<Record<string, number>> = { "4:2:0": 1, "4:2:2": 4 / 3 };

/**
 * Which pictures are held whole, by sharp's names of their formats; the others are read row by row, or frame
 * by frame, and whatever takes more than that ends with its process. Measured with libvips 8.18.
 */
function kindOf({ format, isProgressive, chromaSubsampling }: Metadata): Kind | null {
  if (format === "png" && isProgressive) return { name: "an interlaced PNG", times: 1 };
  if (format === "jpeg" && isProgressive)
    return { name: "a progressive JPEG", times: JPEG_TIMES[chromaSubsampling ?? ""] ?? 2 };
  if (format === "gif") return { name: "a GIF", times: 1 };
  return format === "heif" ? { name: "an AVIF", times: 5 } : null;
}

/** Throws `invalid` for a picture that would take too much memory unpacked. */
export function assertDecodable(picture: Metadata): void {
  const kind = kindOf(picture);
  if (kind === null) return;
  const { width, pageHeight: height = picture.height, channels, depth } = picture;
  const bytes = width * height * channels * (SAMPLE_BYTES[depth] ?? 8) * kind.times;
  if (bytes <= MAX_DECODED_BYTES) return;
  throw new AppError(
    "invalid",
    `The picture is ${kind.name} of ${width} × ${height}, which takes ${Math.ceil(bytes / MiB)} MiB to read. At most ${MAX_DECODED_BYTES / MiB} are allowed. Give a smaller one, or a plain JPEG or PNG.`,
  );
}
