import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { ImageLimits } from "../../ports/media.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { Created } from "../shared/meta/graph.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { isThere } from "./film-status.ts";
import { askPage, pageOf } from "./graph.ts";
import { MAX_PHOTOS, mediaOf, type FacebookPost } from "./metadata.ts";
import { canSchedule } from "./schedule.ts";

/** https://developers.facebook.com/docs/graph-api/reference/page/photos */
const IMAGE_LIMITS = {
  maxBytes: 4_000_000,
  mimeTypes: ["image/jpeg", "image/png"],
} as const satisfies ImageLimits;

export const IMAGES: AcceptedMedia = {
  kind: "image",
  ...IMAGE_LIMITS,
  maxItems: MAX_PHOTOS,
  animated: false,
};

/** Uploads the pictures for nobody to see yet, and gives their ids. */
export async function preparePhotos(post: FacebookPost, io: PublishIo): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, given] of mediaOf(post).entries()) {
    const id = await io.effect<string>({
      step: `photo.${at + 1}`,
      request: { ...given },
      send: () => sendPhoto(post, given, io),
      // One that is on it twice, nobody sees; Facebook drops it after a day.
      settle: async () => ({ outcome: "send_again" }),
      isGone: async (photo) => !(await isThere(io, photo)),
    });
    ids.push(id);
  }
  return ids;
}

async function sendPhoto(
  post: FacebookPost,
  { url, altText }: { readonly url: string; readonly altText: string | null },
  io: PublishIo,
): Promise<string> {
  const item = await io.media.item(url, altText);
  const { bytes, mimeType } = await io.media.fitImage(item, IMAGE_LIMITS);
  const { id } = await uploadPhoto(io, {
    bytes,
    mimeType,
    fields: {
      published: "false",
      // What waits for a schedule is kept for it then.
      ...(canSchedule(post, io) ? { temporary: "true" } : {}),
      ...(altText === null || altText === "" ? {} : { alt_text_custom: altText }),
    },
  });
  return id;
}

interface Upload {
  readonly bytes: Buffer;
  readonly mimeType: string;
  readonly fields: Readonly<Record<string, string>>;
}

function uploadPhoto(io: PlatformIo, { bytes, mimeType, fields }: Upload): Promise<{ id: string }> {
  const texts = Object.entries(fields).map(([name, text]) => ({ name, text }));
  return askPage(
    io,
    {
      ...UPLOAD_TIMES,
      method: "POST",
      path: `${pageOf(io)}/photos`,
      multipart: [...texts, { name: "source", fileName: fileNameOf(mimeType, "photo"), mimeType, bytes }],
      isIdempotent: true,
    },
    Created,
  );
}
