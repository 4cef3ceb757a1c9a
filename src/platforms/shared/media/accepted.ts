import type { MediaKind } from "../../../domain/accounts/account.ts";

/** Every type that the file store tells apart, for platforms that take what comes. */
export const ACCEPTED = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/heic", "image/tiff"],
  video: ["video/mp4", "video/webm", "video/quicktime", "video/x-matroska"],
  audio: ["audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/wav", "audio/flac"],
} as const satisfies Readonly<Record<MediaKind, readonly string[]>>;
