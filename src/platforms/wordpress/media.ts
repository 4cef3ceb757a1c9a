import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { ACCEPTED } from "../shared/media/accepted.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { itemsOf } from "../shared/media/items.ts";
import { ask, WpFile } from "./api.ts";
import type { Filed } from "./content.ts";
import { keyOf, type WordpressPost } from "./metadata.ts";

const MAX_ITEMS = 21;

const PICTURES = {
  mimeTypes: ["image/jpeg", "image/png", "image/webp", "image/gif"],
  maxBytes: 32 * 1024 * 1024,
  // Beyond, WordPress shrinks them itself, for which many servers have not the memory.
  maxWidth: 2_560,
  maxHeight: 2_560,
} as const;

/** As many bytes as the server's PHP is set to take, which nobody is told. */
export const MEDIA: { maxItems: number; accepts: AcceptedMedia[] } = {
  maxItems: MAX_ITEMS,
  accepts: [
    { kind: "image", ...PICTURES, maxItems: MAX_ITEMS },
    { kind: "video", mimeTypes: ACCEPTED.video, maxItems: MAX_ITEMS },
    { kind: "audio", mimeTypes: ACCEPTED.audio, maxItems: MAX_ITEMS },
  ],
};

/** A draft that the files belong to: as it is for nobody to see, neither are they. */
export interface Parent {
  readonly id: number;
  /** False: files of an earlier try may be there. */
  readonly isNew: boolean;
}

/** Brings the post's media into the library, in their order; the featured image last, where there is one. */
export async function sendMedia(
  post: WordpressPost,
  parent: Parent,
  io: PublishIo,
): Promise<{ files: Filed[]; thumbnail: Filed | null }> {
  const items: MediaItem[] = [];
  for (const { url, altText } of itemsOf(post)) items.push(await io.media.item(url, altText));
  const { thumbnailUrl } = post.metadata;
  const picture = thumbnailUrl === undefined ? null : await io.media.item(thumbnailUrl);
  const files: Filed[] = [];
  for (const [at, item] of items.entries())
    files.push(await sendOne(item, { io, parent, step: stepOf(at), slug: `${keyOf(post)}-${at + 1}` }));
  if (picture === null) return { files, thumbnail: null };
  const slug = `${keyOf(post)}-0`;
  return { files, thumbnail: await sendOne(picture, { io, parent, step: "thumbnail", slug }) };
}

/** Names the step that brings one of the media, from 0. */
export function stepOf(at: number): string {
  return `upload ${at + 1}`;
}

interface Sending {
  readonly io: PublishIo;
  readonly parent: Parent;
  readonly step: string;
  readonly slug: string;
}

function sendOne(item: MediaItem, { io, parent, step, slug }: Sending): Promise<Filed> {
  const { type } = item.facts;
  const toFiled = (file: z.infer<typeof WpFile>): Filed => ({
    id: file.id,
    url: file.source_url,
    kind: type === "image" || type === "video" ? type : "audio",
  });
  return io.effect<Filed>({
    step,
    request: { url: item.url, altText: item.altText, slug },
    send: async () => {
      const found = parent.isNew ? null : await findFile(io, parent, slug);
      return toFiled(found ?? (await upload(item, { slug, parent: parent.id }, io)));
    },
    settle: async () => {
      const found = await findFile(io, parent, slug);
      return found === null ? { outcome: "send_again" } : { outcome: "done", result: toFiled(found) };
    },
  });
}

async function findFile(
  io: PlatformIo,
  { id }: Parent,
  slug: string,
): Promise<z.infer<typeof WpFile> | null> {
  const query = { slug, parent: id, context: "edit", _fields: Object.keys(WpFile.shape).join(",") };
  const call = { method: "GET", path: "/wp/v2/media", query } as const;
  return (await ask(io, call, z.array(WpFile))).find((file) => file.slug === slug) ?? null;
}

/** `parent`: the post that it belongs to. */
export async function upload(
  item: MediaItem,
  { slug, parent }: { readonly slug: string; readonly parent: number | string },
  io: PublishIo,
): Promise<z.infer<typeof WpFile>> {
  const text = (name: string, value: string): FormPart => ({ name, text: value });
  const multipart: FormPart[] = [
    text("post", String(parent)),
    text("slug", slug),
    ...(item.altText === null || item.altText === "" ? [] : [text("alt_text", item.altText)]),
    await filePart(item, slug, io),
  ];
  const query = { _fields: Object.keys(WpFile.shape).join(",") };
  return ask(io, { method: "POST", path: "/wp/v2/media", query, multipart, ...UPLOAD_TIMES }, WpFile);
}

/** WordPress goes by the ending of the name. */
async function filePart(item: MediaItem, name: string, io: PublishIo): Promise<FormPart> {
  const { type, mimeType, sizeBytes } = item.facts;
  const fileName = (mime: string): string => fileNameOf(mime, name);
  if (type !== "image")
    return { name: "file", fileName: fileName(mimeType), mimeType, sizeBytes, open: () => item.open() };
  const fitted = await io.media.fitImage(item, PICTURES);
  return {
    name: "file",
    fileName: fileName(fitted.mimeType),
    mimeType: fitted.mimeType,
    bytes: fitted.bytes,
  };
}
