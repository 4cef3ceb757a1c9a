import type { MediaKind, MediaLimits } from "../../domain/accounts/account.ts";

/** Every type that the file store tells apart, for platforms that take what comes. */
export const ACCEPTED = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/heic", "image/tiff"],
  video: ["video/mp4", "video/webm", "video/quicktime", "video/x-matroska"],
  audio: ["audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/wav", "audio/flac"],
} as const satisfies Readonly<Record<MediaKind, readonly string[]>>;

type Given = Partial<Omit<MediaLimits, "kind" | "mimeTypes" | "maxItems">> & {
  readonly mimeTypes: readonly string[];
  readonly maxItems: number;
};

/** What a platform takes of one kind; a limit that is left out is none. */
export function limits(kind: MediaKind, { mimeTypes, ...given }: Given): MediaLimits {
  return {
    kind,
    mimeTypes: [...mimeTypes],
    maxBytes: null,
    maxSeconds: null,
    minAspectRatio: null,
    maxAspectRatio: null,
    ...given,
  };
}
