import type { Metadata } from "sharp";
import { AppError } from "../../domain/errors.ts";

const MiB = 1024 * 1024;

/** What a picture may take that is held whole while it is worked on. */
const MAX_DECODED_BYTES = 256 * MiB;
/** Of HEIC: phones take 24 million pixels, and it is decoded three times over. */
const MAX_HEIC_BYTES = 512 * MiB;

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

/** Bytes of a coefficient, and samples of colour to one of light. 4:4:4 where it is not known. */
const JPEG_TIMES: Readonly<Record<string, number>> = { "4:2:0": 1, "4:2:2": 4 / 3 };

/**
 * The pictures that are held whole, by sharp's names of their formats: what to call one, and how many times the
 * size of its samples is needed. Others are read row by row, or frame by frame; one that takes more ends with its
 * process. Measured with libvips 8.18.
 */
function describeWhole(picture: Metadata): [string, number] | null {
  const { format, compression, isProgressive, chromaSubsampling } = picture;
  if (format === "png" && isProgressive) return ["an interlaced PNG", 1];
  if (format === "jpeg" && isProgressive)
    return ["a progressive JPEG", JPEG_TIMES[chromaSubsampling ?? ""] ?? 2];
  if (format === "gif") return ["a GIF", 1];
  if (format !== "heif") return null;
  return compression === "hevc" ? ["a HEIC", 6] : ["an AVIF", 5];
}

/** Throws `invalid` for a picture that would take too much memory unpacked. */
export function assertDecodable(picture: Metadata): void {
  const [name, times] = describeWhole(picture) ?? ["", 0];
  const { width, pageHeight: height = picture.height, channels, depth } = picture;
  const bytes = width * height * channels * (SAMPLE_BYTES[depth] ?? 8) * times;
  const most = picture.compression === "hevc" ? MAX_HEIC_BYTES : MAX_DECODED_BYTES;
  if (bytes <= most) return;
  throw new AppError(
    "invalid",
    `The picture is ${name} of ${width} × ${height}, which takes ${Math.ceil(bytes / MiB)} MiB to read. At most ${most / MiB} are allowed. Give a smaller one, or a plain JPEG or PNG.`,
  );
}
