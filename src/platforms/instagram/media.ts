import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { asciiAddressOf } from "../shared/media/fetched.ts";
import { MAX_ITEMS } from "./metadata.ts";

const MB = 1_000_000;

/** What is wider than 1,440 Instagram makes smaller itself, and worse. */
export const IMAGE = {
  kind: "image",
  mimeTypes: ["image/jpeg"],
  maxBytes: 8 * MB,
  maxWidth: 1_440,
  minAspectRatio: 0.8,
  maxAspectRatio: 1.91,
  fill: "white",
  animated: false,
  maxItems: MAX_ITEMS,
} as const satisfies AcceptedMedia;

const FILM = {
  kind: "video" as const,
  mimeTypes: ["video/mp4", "video/quicktime"],
  videoCodecs: ["avc", "hevc"],
  audioCodecs: ["aac"],
  minSeconds: 3,
} satisfies Partial<AcceptedMedia>;

/** A film by itself is a reel. */
export const REEL: AcceptedMedia = { ...FILM, maxBytes: 300 * MB, maxSeconds: 15 * 60, maxItems: MAX_ITEMS };

const { minAspectRatio: _min, maxAspectRatio: _max, fill: _fill, ...anyShape } = IMAGE;

export const STORY_IMAGE: AcceptedMedia = { ...anyShape, maxItems: 1 };
export const STORY_FILM: AcceptedMedia = { ...FILM, maxBytes: 100 * MB, maxSeconds: 60, maxItems: 1 };

/** Long enough for a film to be fetched and made ready. */
const FETCHED_WITHIN_MINUTES = 180;

/** The address that Instagram fetches it from: as it is, or of a copy that it takes. */
export async function addressOf(io: PublishIo, item: MediaItem, isStory = false): Promise<string> {
  const { maxBytes, mimeTypes, maxWidth, minAspectRatio: min, maxAspectRatio: max, fill } = IMAGE;
  const limits = { maxBytes, mimeTypes, maxWidth, ...(isStory ? {} : { aspect: { min, max, fill } }) };
  return asciiAddressOf(io, item, { limits, minutes: FETCHED_WITHIN_MINUTES });
}
