import { ACCEPTED, itemsOf } from "../shared/media.ts";
import * as z from "zod";
import { commonMetadata, type Subtitles } from "../../domain/posts/common-metadata.ts";
import { toIso } from "../../domain/time.ts";
import type { ImageLimits } from "../../ports/media.ts";
import type { PlatformPost } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";

/** Everything that has a common meaning, and whatever else the receiver understands. */
export const WebhookMetadata = z.strictObject({
  ...commonMetadata,
  fields: z
    .record(z.string().max(100), z.json())
    .optional()
    .describe("Anything of your own, passed on unchanged."),
});
export type WebhookPost = PlatformPost<z.infer<typeof WebhookMetadata>>;

/** How long the receiver can fetch own files by the address it gets. */
const DOWNLOAD_MINUTES = 24 * 60;

/**
 * One medium as the receiver gets it; what only a look at the bytes would tell is null for media of other
 * servers.
 */
interface EventMedia {
  readonly url: string;
  readonly altText: string | null;
  readonly mimeType: string | null;
  readonly sizeBytes: number | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationSeconds: number | null;
}

/** The body of a delivery. */
interface PostEvent {
  readonly type: "post.published";
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    readonly accountId: string;
    readonly accountName: string;
    readonly scheduledAt: string;
    readonly caption: string | null;
    /** Without what names media: that is below, resolved. */
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly media: readonly EventMedia[];
    readonly thumbnail: EventMedia | null;
    readonly subtitles: readonly Subtitles[];
    readonly thread: readonly { readonly caption: string; readonly media: readonly EventMedia[] }[];
  };
}

/** `happenedAt` in milliseconds. */
export async function toEvent(post: WebhookPost, io: PublishIo, happenedAt: number): Promise<PostEvent> {
  const {
    altText: _altText,
    moreMedia: _moreMedia,
    thumbnailUrl,
    subtitles = [],
    thread = [],
    ...metadata
  } = post.metadata;
  return {
    type: "post.published",
    timestamp: toIso(happenedAt),
    data: {
      id: post.id,
      accountId: io.account.id,
      accountName: io.account.name,
      scheduledAt: toIso(post.scheduledAt),
      caption: post.caption,
      metadata,
      media: await mediaOf(itemsOf(post), io),
      thumbnail: thumbnailUrl === undefined ? null : await toMedia({ url: thumbnailUrl }, io),
      subtitles: await Promise.all(
        subtitles.map(async (one) => ({ ...one, url: (await toMedia(one, io)).url })),
      ),
      thread: await Promise.all(
        thread.map(async ({ caption, mediaUrl, altText: described }) => ({
          caption,
          media: await mediaOf(mediaUrl === undefined ? [] : [{ url: mediaUrl, altText: described }], io),
        })),
      ),
    },
  };
}

interface NamedMedia {
  readonly url: string;
  readonly altText?: string | null | undefined;
}

function mediaOf(items: readonly NamedMedia[], io: PublishIo): Promise<EventMedia[]> {
  return Promise.all(items.map((item) => toMedia(item, io)));
}

/** Pictures are changed only where they tell what is personal, or are HEIC. */
const CLEAN: ImageLimits = { mimeTypes: ACCEPTED.image, maxBytes: Infinity };

/** Own files under a signed address that runs out; all others where they are, as the receiver can fetch them. */
async function toMedia({ url, altText = null }: NamedMedia, io: PublishIo): Promise<EventMedia> {
  if (!url.startsWith("r2://")) return { url, altText, ...UNKNOWN };
  const item = await io.media.item(url, altText);
  const fitted = item.facts.type === "image" ? await io.media.fitImage(item, CLEAN) : null;
  if (fitted?.isChanged === true) {
    const { bytes, mimeType, width, height } = fitted;
    const at = { mayBeNear: true, keptWith: item };
    const address = await io.media.publicUrl(fitted, DOWNLOAD_MINUTES, at);
    return { ...UNKNOWN, url: address, altText, mimeType, sizeBytes: bytes.length, width, height };
  }
  const { mimeType, sizeBytes, width, height, durationSeconds } = item.facts;
  const address = await io.media.publicUrl(item, DOWNLOAD_MINUTES, { mayBeNear: true });
  return { url: address, altText, mimeType, sizeBytes, width, height, durationSeconds };
}

const UNKNOWN = { mimeType: null, sizeBytes: null, width: null, height: null, durationSeconds: null };
