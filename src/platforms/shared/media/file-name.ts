const ENDINGS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
};

/**
 * What a file of this type is called, by its bytes: what an address ends in may be anything. `name`: before
 * the dot; left out, what kind it is ("image.jpg").
 */
export function fileNameOf(mimeType: string, name = mimeType.slice(0, mimeType.indexOf("/"))): string {
  return `${name}.${ENDINGS[mimeType] ?? mimeType.slice(mimeType.indexOf("/") + 1)}`;
}
