import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { itemsOf } from "../shared/media/items.ts";
import { MAX_ITEMS, type TumblrPost } from "./metadata.ts";

const MB = 1_000_000;
const STILL = ["image/jpeg", "image/png", "image/webp"];

export const ACCEPTS: readonly AcceptedMedia[] = [
  { kind: "image", mimeTypes: [...STILL, "image/gif"], maxBytes: 10 * MB, maxItems: MAX_ITEMS },
  {
    kind: "video",
    mimeTypes: ["video/mp4", "video/quicktime"],
    maxBytes: 500 * MB,
    maxSeconds: 600,
    maxItems: 1,
  },
  { kind: "audio", mimeTypes: ["audio/mpeg"], maxBytes: 10 * MB, maxItems: 10 },
];

/** All pictures go in one request and are held together. */
const ALL_PICTURES_BYTES = 60 * MB;

/** Opened before anything is sent, so that what cannot be posted is refused as a whole. */
export async function openAll(post: TumblrPost, io: PublishIo): Promise<MediaItem[]> {
  const items: MediaItem[] = [];
  for (const { url, altText } of itemsOf(post)) items.push(await io.media.item(url, altText));
  return items;
}

/** A file of a post: its block, and the part of the form that brings it. */
export interface Upload {
  readonly block: JsonObject;
  readonly part: FormPart;
}

export async function uploadsOf(items: readonly MediaItem[], io: PublishIo): Promise<Upload[]> {
  const uploads: Upload[] = [];
  for (const [at, item] of items.entries()) uploads.push(await uploadOf(item, at, { io, items }));
  return uploads;
}

async function uploadOf(
  item: MediaItem,
  at: number,
  { io, items }: { readonly io: PublishIo; readonly items: readonly MediaItem[] },
): Promise<Upload> {
  const { facts, altText } = item;
  const name = `m${at}`;
  const file = (mimeType: string) => ({ name, fileName: `${name}.${mimeType.split("/")[1]}`, mimeType });
  const media = (mimeType: string, { width, height }: Pick<typeof facts, "width" | "height">) => ({
    type: mimeType,
    identifier: name,
    ...(width === null || height === null ? {} : { width, height }),
  });
  const alt = altText === null || altText === "" ? {} : { alt_text: altText };
  if (facts.type === "image" && facts.mimeType !== "image/gif") {
    const maxBytes = Math.min(10 * MB, Math.floor(ALL_PICTURES_BYTES / items.length));
    const fitted = await io.media.fitImage(item, { mimeTypes: STILL, maxBytes });
    const { mimeType, bytes } = fitted;
    const block = { type: "image", media: [media(mimeType, fitted)], ...alt };
    return { block, part: { ...file(mimeType), bytes } };
  }
  const { mimeType, sizeBytes } = facts;
  const part = { ...file(mimeType), sizeBytes, open: () => item.open() };
  // A GIF is sent as it is: it moves.
  if (facts.type === "image")
    return { block: { type: "image", media: [media(mimeType, facts)], ...alt }, part };
  if (facts.type === "video") return { block: { type: "video", media: media(mimeType, facts) }, part };
  return { block: { type: "audio", provider: "tumblr", media: { type: mimeType, identifier: name } }, part };
}
