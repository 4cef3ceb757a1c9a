import { AppError } from "../../domain/errors.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { Json } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { checkPost, kindProblem } from "./check.ts";
import type { TikTokPost } from "./metadata.ts";
import { addressesOf, PhotosAsked, sendPhotos, settlePhotos } from "./photos.ts";
import { follow, Sent } from "./status.ts";
import { sendFilm, settleFilm } from "./video.ts";

const STEP = "post";

/**
 * TikTok posts a film by itself once it has its last byte, and photos once it is given their addresses: both are
 * one step, and what became of it is asked with the id that TikTok gave.
 */
export async function publish(post: TikTokPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "prepared" };
  const known = Sent.safeParse(io.resultOf(STEP));
  return follow(post, io, known.success ? known.data : await bring(post, io));
}

async function bring(post: TikTokPost, io: PublishIo): Promise<Sent> {
  const { item, urls } = await open(post, io);
  const result = await io.effect<Json>({
    step: STEP,
    request: { mediaUrl: post.mediaUrl, caption: post.caption },
    send: (context) =>
      urls === null ? sendFilm({ post, item, io }, context) : sendPhotos({ post, urls, io }, context),
    settle: async (context) => {
      if (context.handle === null) return { outcome: "send_again" };
      return PhotosAsked.safeParse(context.handle).success
        ? settlePhotos(context, { post, io })
        : settleFilm(context, io);
    },
  });
  return Sent.parse(result);
}

/** All media, so that what cannot be posted is refused as a whole. `urls`: null for a film. */
async function open(
  post: TikTokPost,
  io: PublishIo,
): Promise<{ item: MediaItem; urls: readonly string[] | null }> {
  const [problem] = checkPost(post, { account: io.account, media: new Map(), now: io.now() }).errors;
  if (problem !== undefined) throw new AppError("invalid", problem);
  const item = await io.media.item(post.mediaUrl);
  const more: MediaItem[] = [];
  for (const { url } of post.metadata.moreMedia ?? []) more.push(await io.media.item(url));
  const wrong = kindProblem(
    post,
    [item, ...more].map(({ facts }) => facts),
  );
  if (wrong !== null) throw new AppError("invalid", wrong);
  return { item, urls: item.facts.type === "image" ? await addressesOf([item, ...more], io) : null };
}
