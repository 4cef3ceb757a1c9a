import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import * as z from "zod";
import { MEDIA_KINDS, type MediaKind } from "../../domain/accounts/account.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import { AppError } from "../../domain/errors.ts";
import type { FeedItem, FeedMedia, FeedStorage, LocalIo } from "../../ports/feed-storage.ts";
import { oneChannel } from "../shared/connect.ts";
import { ACCEPTED, fitFile, inOrder, itemsOf } from "../shared/media.ts";
import { definePlatform, type PlatformPost } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";

const FeedMetadata = z.strictObject({
  title: commonMetadata.title,
  description: commonMetadata.description,
  tags: commonMetadata.tags,
  link: commonMetadata.link,
  altText: commonMetadata.altText,
  moreMedia: commonMetadata.moreMedia,
  language: commonMetadata.language,
  thumbnailUrl: commonMetadata.thumbnailUrl,
});

type FeedPost = PlatformPost<z.infer<typeof FeedMetadata>>;

const MAX_ITEMS = 20;
const MAX_IMAGE_BYTES = 50_000_000;

/** A reader shows what browsers show. */
const MIME_TYPES: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"],
  video: ["video/mp4", "video/webm", "video/quicktime"],
  audio: ACCEPTED.audio,
  document: [],
};

/**
 * The built-in feed: everything works before any channel is connected, and every state of a post can be seen
 * on it.
 */
export default definePlatform({
  name: "feed",
  title: "Feed",
  aliases: ["rss", "atom"],
  docs: "https://www.jsonfeed.org/version/1.1/",
  capabilities: {
    media: {
      required: false,
      maxItems: MAX_ITEMS + 1,
      accepts: MEDIA_KINDS.map((kind) => ({ kind, mimeTypes: MIME_TYPES[kind], maxItems: MAX_ITEMS })).filter(
        ({ mimeTypes }) => mimeTypes.length > 0,
      ),
    },
    caption: { maxLength: 10_000, unit: "characters" },
    scheduling: "ours",
    leadMinutes: { min: 0, default: 0, max: 7 * 24 * 60 },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: ["caption", "title", "description", "tags", "link", "altText", "language"] },
    reconciles: "client_key",
  },
  isLocal: true,
  metadata: FeedMetadata,
  settings: [],
  connect: [
    {
      kind: "none",
      name: "feed",
      label: "A feed of its own",
      instructions: "It is made at once.",
      // Each connection is one more feed, so its identity is made here.
      connect: async (input) =>
        oneChannel({
          platformAccountId: input.reconnecting?.platformAccountId ?? randomUUID(),
          name: input.name ?? input.reconnecting?.name ?? "My feed",
          secrets: {},
        }),
    },
  ],

  preview: (post) => ({ body: textOf(post) }),

  async publish(post, io) {
    const { id } = post;
    const state = { platformPostId: id, platformUrl: addressOf(post, io) };
    // Copied once: when the entry is shown, its sources may be gone.
    const media = await io.once("media", () => keepMedia(post, io));
    const item = toItem(post, io, { ...media, isPublic: false });
    // Two steps, so that an entry prepared ahead is there, hidden, until its time.
    await io.effect({
      step: "prepare",
      request: { id, caption: post.caption, media: media.media.map((one) => one.key) },
      send: async () => put(io, item),
      reconcile: async () => ({ outcome: "send_again" }),
    });
    if (!io.isDue) return { state: "held", ...state };
    await io.effect({
      step: "show",
      request: { id },
      send: async () => show(io, id),
      reconcile: async () =>
        (await feedOf(io).get(io.account.id, id))?.isPublic === true
          ? { outcome: "done", result: true }
          : { outcome: "send_again" },
    });
    return { state: "live", ...state };
  },

  async edit(post, _changed, io) {
    const { title, text, link, tags, language } = toItem(post, io, {
      media: [],
      thumbnail: null,
      isPublic: true,
    });
    await change(post, io, (item) => {
      const [first, ...more] = item.media;
      // The first item is mediaUrl's, which altText describes; without one it is moreMedia's, which keeps its
      // own.
      const isDescribed = first !== undefined && post.mediaUrl !== "";
      const media = isDescribed
        ? [{ ...first, altText: post.metadata.altText ?? null }, ...more]
        : item.media;
      return { ...item, title, text, link, tags, language, media };
    });
    return {};
  },

  async setThumbnail(post, thumbnailUrl, io) {
    const thumbnail = await keep(io, {
      postId: post.id,
      position: "thumbnail",
      url: thumbnailUrl,
      altText: null,
    });
    await change(post, io, (item) => ({ ...item, thumbnail }));
  },

  async insights(post, io) {
    const item = await feedOf(io).get(io.account.id, post.platformPostId ?? post.id);
    if (item === null) return { state: "removed", visibility: null, metrics: {} };
    const { isPublic } = item;
    return { state: isPublic ? "live" : "private", visibility: isPublic ? "public" : "private", metrics: {} };
  },

  async remove(post, io) {
    await feedOf(io).remove(io.account.id, post.platformPostId ?? post.id);
  },
});

function addressOf(post: FeedPost, io: PlatformIo): string {
  return `${io.publicUrl}/feed/${io.account.id}/${post.id}.html`;
}

async function put(io: PublishIo, item: FeedItem): Promise<boolean> {
  await feedOf(io).put(item);
  return true;
}

async function show(io: PublishIo, id: string): Promise<boolean> {
  const shown = await feedOf(io).change(io.account.id, id, (item) => ({
    ...item,
    isPublic: true,
    publishedAt: io.now(),
  }));
  if (shown === null)
    throw new AppError("conflict", "The entry was taken off the feed before its time. Send it again.");
  return true;
}

async function change(post: FeedPost, io: PlatformIo, by: (item: FeedItem) => FeedItem): Promise<void> {
  const changed = await feedOf(io).change(io.account.id, post.platformPostId ?? post.id, by);
  if (changed === null) throw new AppError("conflict", "The entry is not on the feed any more.");
}

interface KeptMedia {
  readonly media: readonly FeedMedia[];
  readonly thumbnail: FeedMedia | null;
}

/** Copies the media, so that the feed does not depend on where they came from. */
async function keepMedia(post: FeedPost, io: PublishIo): Promise<KeptMedia> {
  const { thumbnailUrl } = post.metadata;
  const media = await inOrder(itemsOf(post), (one, at) =>
    keep(io, { postId: post.id, position: String(at), ...one }),
  );
  const thumbnail =
    thumbnailUrl === undefined
      ? null
      : await keep(io, { postId: post.id, position: "thumbnail", url: thumbnailUrl, altText: null });
  return { media, thumbnail };
}

async function keep(
  io: PublishIo,
  one: { postId: string; position: string; url: string; altText: string | null },
): Promise<FeedMedia> {
  const item = await io.media.item(one.url, one.altText);
  const { type, mimeType } = item.facts;
  // Pictures of other types are made ones that are shown.
  if (type === "other" || (type !== "image" && !MIME_TYPES[type].includes(mimeType))) {
    throw new AppError(
      "invalid",
      `mediaUrl: ${mimeType} cannot be shown in a feed. Give a picture, a video or a sound that browsers play.`,
    );
  }
  const at = { accountId: io.account.id, itemId: one.postId, position: one.position };
  // Anyone can read the feed: where a picture was taken is not shown.
  const file = await fitFile(item, { maxBytes: MAX_IMAGE_BYTES, mimeTypes: MIME_TYPES.image }, io);
  const { body } = file;
  return feedOf(io).keepMedia(at, {
    body: Buffer.isBuffer(body) ? Readable.from([body]) : body(),
    mimeType: file.mimeType,
    altText: item.altText,
    width: file.width,
    height: file.height,
    durationSeconds: type === "image" ? null : item.facts.durationSeconds,
  });
}

function textOf({
  caption,
  metadata: { description },
}: Pick<FeedPost, "caption" | "metadata">): string | null {
  const texts = [caption, description].filter((text) => text !== undefined && text !== null && text !== "");
  return texts.length === 0 ? null : texts.join("\n\n");
}

function toItem(post: FeedPost, io: PlatformIo, kept: KeptMedia & { readonly isPublic: boolean }): FeedItem {
  const { title, link, tags, language } = post.metadata;
  return {
    accountId: io.account.id,
    id: post.id,
    title: title ?? null,
    text: textOf(post),
    link: link ?? null,
    tags: tags ?? [],
    language: language ?? null,
    media: kept.media,
    thumbnail: kept.thumbnail,
    publishedAt: post.scheduledAt,
    isPublic: kept.isPublic,
  };
}

function feedOf({ feed }: PlatformIo & LocalIo): FeedStorage {
  if (feed !== undefined) return feed;
  throw new Error("The feed is a platform of this very database, and was not given its storage.");
}
