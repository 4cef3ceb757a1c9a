import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import type { MediaItem } from "../../../ports/media.ts";
import { PlatformFault, type PlatformIo } from "../../../ports/platform-io.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import type { FormPart } from "../../../ports/request-body.ts";
import { UPLOAD_TIMES } from "../media/chunks.ts";
import { filePart, picturePart } from "../posts/form-file.ts";
import type { Part } from "../posts/thread.ts";
import { sendUnseen } from "../unseen.ts";
import { isGone, own, ownOrGone } from "./api.ts";
import { Attachment } from "./entities.ts";
import { capabilitiesOf } from "./limits.ts";

/** A file on the server that no status names yet. `isReady`: it was when it had come. */
export type Attached = { readonly id: string; readonly isReady: boolean };

export interface Sending {
  readonly io: PublishIo;
  /** Names the part of the thread. */
  readonly name: string;
  /** Shown before a video or sound plays. */
  readonly thumbnailUrl: string | null;
}

/** Brings a part's media to the server, in their order. */
export async function sendMedia(part: Part, to: Sending): Promise<Attached[]> {
  const attached: Attached[] = [];
  for (const [at, item] of (await openAll(part, to.io)).entries())
    attached.push(await sendOne(item, { ...to, name: `${to.name}.${at + 1}` }));
  return attached;
}

/** Opens all of a part's media before anything is sent, so that what cannot be posted is refused as a whole. */
async function openAll(part: Part, io: PublishIo): Promise<MediaItem[]> {
  const items: MediaItem[] = [];
  for (const { url, altText } of part.media) items.push(await io.media.item(url, altText));
  if (items.length > 1 && items.some(({ facts }) => facts.type !== "image"))
    throw new AppError("invalid", MIXED);
  return items;
}

export const MIXED =
  "metadata.moreMedia: a post on this server shows either pictures or one video or sound. Leave the rest out or use thread.";

function sendOne(item: MediaItem, to: Sending): Promise<Attached> {
  const { io } = to;
  return sendUnseen<Attached>(io, {
    step: `upload ${to.name}`,
    request: { url: item.url, altText: item.altText, thumbnailUrl: to.thumbnailUrl },
    send: async () => upload(io, await formOf(item, to)),
    isGone: async ({ id }) => (await readAttachment(io, id)) === null,
  });
}

async function formOf(item: MediaItem, { io, thumbnailUrl }: Sending): Promise<FormPart[]> {
  const at = { io, accepts: capabilitiesOf(io.account).media.accepts };
  const description =
    item.altText === null || item.altText === "" ? [] : [{ name: "description", text: item.altText }];
  const file = await filePart("file", item, at);
  if (item.facts.type === "image" || thumbnailUrl === null) return [file, ...description];
  return [file, ...description, await picturePart("thumbnail", await io.media.item(thumbnailUrl), at)];
}

/** 202 is "not ready yet" with an attachment that has no address so far. */
async function upload(io: PublishIo, multipart: readonly FormPart[]): Promise<Attached> {
  const send = (path: string) => own(io, { method: "POST", path, multipart, ...UPLOAD_TIMES }, Attachment);
  try {
    const { id, url } = await send("/api/v2/media");
    return { id, isReady: typeof url === "string" };
  } catch (error) {
    // Mastodon before 3.1.3, and servers that follow it, have the older one alone.
    if (!isGone(error) && !(error instanceof PlatformFault && error.httpStatus === 405)) throw error;
    return { id: (await send("/api/v1/media")).id, isReady: true };
  }
}

const Processing = z.union([Attachment, z.looseObject({})]);

/** Null where the server has no such file among those that no status names. */
function readAttachment(io: PlatformIo, id: string): Promise<z.infer<typeof Processing> | null> {
  return ownOrGone(io, { method: "GET", path: `/api/v1/media/${encodeURIComponent(id)}` }, Processing);
}

/** Whether the server still works on any of them. Throws `rejected` where it could not make use of one. */
export async function isProcessing(attached: readonly Attached[], io: PlatformIo): Promise<boolean> {
  for (const { id, isReady } of attached) {
    if (isReady) continue;
    const found = await readAttachment(io, id);
    // Once a status has it, it is not there any more: the status tells.
    if (found !== null && typeof found["url"] !== "string") return true;
  }
  return false;
}
