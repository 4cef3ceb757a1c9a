import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo, Settled, SettleContext } from "../../ports/publish-io.ts";
import { asNotSent } from "../shared/not-sent.ts";
import { settleByListing } from "../shared/settle.ts";
import { callTikTok } from "./api.ts";
import { Id } from "../../ports/platform-values.ts";
import { assertAllowed, readCreator } from "./creator.ts";
import { isInbox, privacyOf, type TikTokPost } from "./metadata.ts";
import type { Sent } from "./status.ts";

/** PNG is refused; 1080p is the most. */
export const PHOTO_LIMITS = {
  maxBytes: 20_000_000,
  mimeTypes: ["image/jpeg", "image/webp"],
  maxWidth: 1_080,
  maxHeight: 1_920,
} as const satisfies ImageLimits;

/** How long TikTok may take to fetch them. */
const FETCH_MINUTES = 120;

/** Addresses of the photos under our own domain, which is the one that is verified. */
export async function addressesOf(items: readonly MediaItem[], io: PublishIo): Promise<string[]> {
  const urls: string[] = [];
  for (const item of items) {
    const fitted = await io.media.fitImage(item, PHOTO_LIMITS);
    urls.push(await io.media.publicUrl(fitted.isChanged ? fitted : item, FETCH_MINUTES, { ours: true }));
  }
  return urls;
}

/** Noted right before the one request that may make a post. */
export const PhotosAsked = z.object({ kind: z.literal("photo"), username: z.string().nullable() });

const Started = z.looseObject({ publish_id: z.string().min(1) });

export async function sendPhotos(
  { post, urls, io }: { readonly post: TikTokPost; readonly urls: readonly string[]; readonly io: PublishIo },
  context: EffectContext,
): Promise<Sent> {
  const { info, username } = await prepare(post, io).catch((error: unknown) => {
    throw asNotSent(error);
  });
  await context.saveHandle({ kind: "photo", username });
  const json: JsonObject = {
    media_type: "PHOTO",
    post_mode: isInbox(post.metadata) ? "MEDIA_UPLOAD" : "DIRECT_POST",
    post_info: info,
    source_info: {
      source: "PULL_FROM_URL",
      photo_cover_index: post.metadata.coverIndex ?? 0,
      photo_images: [...urls],
    },
  };
  const path = "/v2/post/publish/content/init/";
  const { publish_id: publishId } = await callTikTok(io, { path, json, kind: "change" }, Started);
  return { kind: "photo", publishId, postId: null, username };
}

async function prepare(
  { caption, metadata }: TikTokPost,
  io: PublishIo,
): Promise<{ info: JsonObject; username: string | null }> {
  const text = {
    ...(metadata.title === undefined ? {} : { title: metadata.title }),
    description: caption ?? "",
  };
  if (isInbox(metadata)) return { info: text, username: null };
  const creator = await readCreator(io);
  assertAllowed(creator, { metadata, seconds: null });
  const info = {
    ...text,
    privacy_level: privacyOf(metadata),
    disable_comment: creator.comment_disabled || metadata.disableComment === true,
    auto_add_music: metadata.autoAddMusic === true,
    brand_content_toggle: metadata.brandContent === true,
    brand_organic_toggle: metadata.brandOrganic === true,
  };
  return { info, username: creator.creator_username === "" ? null : creator.creator_username };
}

/** Moderation takes a minute as a rule. */
const LISTED_AFTER_MS = 3 * MINUTE;

const Page = z.looseObject({
  videos: z
    .array(
      z.looseObject({
        id: Id,
        title: z.string().catch(""),
        video_description: z.string().catch(""),
        create_time: z.number(),
      }),
    )
    .catch([]),
});

/** Found among what everybody can see, by its text; what TikTok does not list proves nothing. */
export async function settlePhotos(
  context: SettleContext,
  { post, io }: { readonly post: TikTokPost; readonly io: PublishIo },
): Promise<Settled<Sent>> {
  const { username } = PhotosAsked.parse(context.handle);
  const settled = settleByListing<Sent>(context, {
    now: io.now(),
    settleMs: LISTED_AFTER_MS,
    isReliable: false,
    reason: "the answer was lost, and TikTok lists only public posts, and lists them late.",
    find: async (since) => {
      const postId = await find(post, io, since);
      return postId === null ? null : { kind: "photo", publishId: null, postId, username };
    },
  });
  return settled.catch((error: unknown) => {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    return { outcome: "unknown", reason: "the answer was lost, and the app may not list TikTok's posts." };
  });
}

async function find({ caption, metadata }: TikTokPost, io: PublishIo, since: number): Promise<string | null> {
  const wanted = [caption, metadata.title].map(asOneLine).filter((text) => text !== "");
  if (wanted.length === 0) return null;
  const fields = "id,title,video_description,create_time";
  const page = await callTikTok(
    io,
    { path: "/v2/video/list/", query: { fields }, json: { max_count: 20 }, kind: "numbers" },
    Page,
  );
  const found = page.videos.find(
    ({ title, video_description: text, create_time: at }) =>
      at * SECOND >= since && [title, text].map(asOneLine).some((one) => wanted.includes(one)),
  );
  return found?.id ?? null;
}

function asOneLine(text: string | null | undefined): string {
  return (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
}
