import type { ImageLimits, MediaItem } from "../../../ports/media.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";

interface Fetching {
  /** Of pictures. */
  readonly limits: ImageLimits;
  /** How long the platform may take to fetch it. */
  readonly minutes: number;
}

/**
 * The address that a platform fetches it from: as it is, or of a copy that it takes. Addresses of users may
 * hold letters of any kind; fetchers read ASCII.
 */
export async function asciiAddressOf(
  io: Pick<PublishIo, "media">,
  item: MediaItem,
  { limits, minutes }: Fetching,
): Promise<string> {
  const fitted = item.facts.type === "image" ? await io.media.fitImage(item, limits) : null;
  const shown = fitted?.isChanged === true ? fitted : item;
  return new URL(await io.media.publicUrl(shown, minutes)).href;
}
