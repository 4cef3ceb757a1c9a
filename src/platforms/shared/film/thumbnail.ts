import { AppError } from "../../../domain/errors.ts";
import { MediaUnavailable, type FittedImage, type ImageLimits } from "../../../ports/media.ts";
import { PlatformFault } from "../../../ports/platform-io.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import { asNotSent } from "../not-sent.ts";

export type Picture = Pick<FittedImage, "bytes" | "mimeType">;

/** The picture in front of a film, on a platform that replaces whatever stood there. */
export interface Thumbnail {
  /** As the post has it; undefined where it has none. */
  readonly url: string | undefined;
  readonly limits: ImageLimits;
  /** May be repeated. */
  send(id: string, picture: Picture): Promise<void>;
}

/** Throws AppError `invalid` for what is no picture, or a damaged one. */
export async function sendThumbnail(
  io: Pick<PublishIo, "media">,
  id: string,
  { url, limits, send }: Thumbnail & { readonly url: string },
): Promise<void> {
  await send(id, await io.media.fitImage(await io.media.item(url), limits));
}

/** As a step of the post: it is set once, however often the post is worked on. */
export async function setThumbnailOnce(io: PublishIo, id: string, thumbnail: Thumbnail): Promise<void> {
  const { url, limits, send } = thumbnail;
  if (url === undefined || io.resultOf("thumbnail") !== null) return;
  const picture = await io.media.fitImage(await io.media.item(url), limits);
  await io.effect<true>({
    step: "thumbnail",
    request: { id, thumbnailUrl: url },
    send: async () => {
      await send(id, picture).catch((error: unknown) => {
        throw asNotSent(error);
      });
      return true;
    },
    settle: async () => ({ outcome: "send_again" }),
  });
}

/**
 * So that the film has it when it becomes public; tried once. What does not work now is tried again, and told,
 * once the post is live.
 */
export async function setThumbnailAhead(io: PublishIo, id: string, thumbnail: Thumbnail): Promise<void> {
  if (thumbnail.url === undefined) return;
  await io.once("thumbnail ahead", async () => {
    try {
      await setThumbnailOnce(io, id, thumbnail);
      return true;
    } catch (error) {
      if (![PlatformFault, AppError, MediaUnavailable].some((kind) => error instanceof kind)) throw error;
      io.log.info({ err: error }, "a thumbnail could not be set ahead");
      return false;
    }
  });
}
