/** A file's name for servers that go by it, and none needs the user's: "image.jpg". */
export function fileNameOf(mimeType: string): string {
  const [kind = "media", type = ""] = mimeType.split("/");
  return `${kind}.${EXTENSIONS[mimeType] ?? EXTENSIONS[type] ?? type}`;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  jpeg: "jpg",
  quicktime: "mov",
  mpeg: "mp3",
  "audio/mp4": "m4a",
  "x-matroska": "mkv",
};
