import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { itemsOf } from "../shared/media/items.ts";
import { sendUnseen } from "../shared/unseen.ts";
import { call } from "./api.ts";
import type { Shown, Uploaded } from "./content.ts";
import type { GhostPost } from "./metadata.ts";
import { WebAddress } from "../../ports/platform-values.ts";

const MB = 1_000_000;
const MAX_ITEMS = 21;

const IMAGE_LIMITS = {
  maxBytes: 20 * MB,
  mimeTypes: ["image/jpeg", "image/png", "image/webp", "image/gif"],
} as const;

/** A site takes what its web server lets through: 1 GB as Ghost's own installer sets it up. */
export const MEDIA = {
  required: false,
  maxItems: MAX_ITEMS,
  accepts: [
    { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_ITEMS },
    { kind: "video", mimeTypes: ["video/mp4", "video/webm"], maxBytes: 1_000 * MB, maxItems: MAX_ITEMS },
    {
      kind: "audio",
      mimeTypes: ["audio/mpeg", "audio/mp4", "audio/ogg", "audio/wav"],
      maxBytes: 1_000 * MB,
      maxItems: MAX_ITEMS,
    },
  ] satisfies AcceptedMedia[],
};

/** Brings the post's media to the site, all of which are looked at before any is sent. */
export async function uploadMedia(post: GhostPost, io: PublishIo): Promise<Shown[]> {
  const items: MediaItem[] = [];
  for (const { url, altText } of itemsOf(post)) items.push(await io.media.item(url, altText));
  const shown: Shown[] = [];
  for (const [at, item] of items.entries()) {
    const request = { url: item.url };
    const file = await sendUnseen<Uploaded>(io, { step: stepOf(at), request, send: () => upload(item, io) });
    shown.push({ ...file, altText: item.altText ?? "" });
  }
  return shown;
}

const stepOf = (at: number): string => `upload ${at + 1}`;

/** What of the post's media lies on the site since it was published. Throws `conflict` where nobody knows. */
export function uploadedMedia(post: GhostPost, io: PlatformIo): Shown[] {
  return itemsOf(post).map(({ altText }, at) => {
    const file = Stored.safeParse(io.resultOf(stepOf(at))).data;
    if (file === undefined)
      throw new AppError(
        "conflict",
        "Posthorn does not know where the post's media are. Change the text on the site.",
      );
    return { ...file, altText: altText ?? "" };
  });
}

const Figure = z.number().nullable();
const Stored = z.object({
  type: z.string(),
  url: z.string(),
  mimeType: z.string(),
  width: Figure,
  height: Figure,
  seconds: Figure,
});

/** The feature image on the site. */
export function uploadThumbnail(thumbnailUrl: string, io: PublishIo): Promise<string> {
  const send = async () => (await upload(await io.media.item(thumbnailUrl), io)).url;
  return sendUnseen<string>(io, { step: "upload feature image", request: { url: thumbnailUrl }, send });
}

const Where = z.looseObject({ url: WebAddress });
const Images = z.looseObject({ images: z.array(Where).min(1) });
const Media = z.looseObject({ media: z.array(Where).min(1) });

export async function upload(item: MediaItem, io: PublishIo): Promise<Uploaded> {
  const { type, mimeType, sizeBytes, width, height, durationSeconds: seconds } = item.facts;
  const common = { method: "POST", ...UPLOAD_TIMES } as const;
  if (type === "image") {
    const { bytes, ...fitted } = await io.media.fitImage(item, IMAGE_LIMITS);
    const part = { name: "file", fileName: fileNameOf(fitted.mimeType), mimeType: fitted.mimeType, bytes };
    const at = { ...common, path: "/images/upload/", multipart: [part] };
    const { images } = await call(io, at, Images);
    const size = { width: fitted.width, height: fitted.height };
    return { type, url: images[0]?.url ?? "", mimeType: fitted.mimeType, ...size, seconds: null };
  }
  const fileName = fileNameOf(mimeType);
  const part: FormPart = { name: "file", fileName, mimeType, sizeBytes, open: () => item.open() };
  const { media } = await call(io, { ...common, path: "/media/upload/", multipart: [part] }, Media);
  return { type, url: media[0]?.url ?? "", mimeType, width, height, seconds };
}
