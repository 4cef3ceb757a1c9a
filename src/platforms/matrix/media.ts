import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import type { PostItem } from "../shared/media/items.ts";
import { sendUnseen } from "../shared/unseen.ts";
import { askAs } from "./api.ts";
import { classifyUpload } from "./faults.ts";
import { capabilitiesOf, NO_THUMBNAIL } from "./metadata.ts";

/** A file in the server's media repository that no message names yet, as a message will. */
export type Uploaded = {
  readonly msgtype: string;
  readonly filename: string;
  readonly url: string;
  readonly info: JsonObject;
};

const Stored = z.looseObject({ content_uri: z.string().regex(/^mxc:\/\/[\w.:[\]-]{1,255}\/[\w-]{1,255}$/) });

/** Brings one file to the server, with the picture in front of it. */
export function upload(
  { url, altText }: PostItem,
  {
    io,
    step,
    thumbnailUrl,
  }: { readonly io: PublishIo; readonly step: string; readonly thumbnailUrl: string | null },
): Promise<Uploaded> {
  return sendUnseen<Uploaded>(io, {
    step,
    request: { url, altText, thumbnailUrl },
    send: async () => {
      const item = await io.media.item(url, altText);
      const { type } = item.facts;
      if (thumbnailUrl !== null && type !== "video") throw new AppError("invalid", NO_THUMBNAIL);
      const thumbnail = thumbnailUrl === null ? null : await store(await io.media.item(thumbnailUrl), io);
      const file = await store(item, io);
      const { durationSeconds } = item.facts;
      return {
        msgtype: `m.${type}`,
        filename: file.name,
        url: file.uri,
        info: {
          ...file.info,
          ...(durationSeconds === null ? {} : { duration: Math.round(durationSeconds * 1_000) }),
          ...(thumbnail === null ? {} : { thumbnail_url: thumbnail.uri, thumbnail_info: thumbnail.info }),
        },
      };
    },
  });
}

async function store(
  item: MediaItem,
  io: PublishIo,
): Promise<{ readonly uri: string; readonly name: string; readonly info: JsonObject }> {
  const { type } = item.facts;
  const file = await fileOf(item, io);
  const { mimeType, sizeBytes, width, height } = file;
  const name = fileNameOf(mimeType, type);
  const { content_uri: uri } = await askAs(io)(
    {
      ...UPLOAD_TIMES,
      method: "POST",
      path: "/media/v3/upload",
      query: { filename: name },
      headers: { "content-type": mimeType, "content-length": String(sizeBytes) },
      body: file.body,
      classify: classifyUpload,
    },
    Stored,
  );
  const size = width === null || height === null ? {} : { w: width, h: height };
  return { uri, name, info: { mimetype: mimeType, size: sizeBytes, ...size } };
}

async function fileOf(item: MediaItem, io: PublishIo) {
  if (item.facts.type !== "image") return { ...item.facts, body: () => item.open() };
  const limits = capabilitiesOf(io.account).media.accepts.find(({ kind }) => kind === "image");
  const { mimeTypes = [], maxBytes } = limits ?? {};
  const fitted = await io.media.fitImage(item, { mimeTypes, maxBytes: maxBytes ?? 0 });
  return { ...fitted, sizeBytes: fitted.bytes.length, body: fitted.bytes };
}
