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
  // https://developers.google.com/speed/webp/docs/riff_container#extended_file_format: a flag of the extended
  // header.
  "image/webp": (bytes) =>
    bytes.subarray(12, 16).toString("latin1") === "VP8X" && ((bytes[20] ?? 0) & 0x02) !== 0,
  "image/avif": (bytes) => bytes.subarray(8, 12).toString("latin1") === "avis",
};

/** Whether the picture says of itself that it has several frames. */
export function isAnimation(bytes: Buffer, mimeType: string): boolean {
  return SIGNS[mimeType]?.(bytes) ?? false;
}
