import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { sendUnseen } from "../shared/unseen.ts";
import { ask, baseUrl } from "./api.ts";
import { classifyUpload } from "./faults.ts";
import { MAX_PICTURES } from "./metadata.ts";

const MB = 1_000_000;
const PICTURE = { mimeTypes: ["image/jpeg", "image/png", "image/gif"], maxBytes: 20 * MB };

export const ACCEPTS: readonly AcceptedMedia[] = [
  { kind: "image", ...PICTURE, maxItems: MAX_PICTURES },
  {
    kind: "video",
    mimeTypes: ["video/mp4", "video/quicktime"],
    maxBytes: 1_000 * MB,
    minSeconds: 2,
    maxSeconds: 900,
    maxItems: 1,
  },
];

const Lease = z.looseObject({
  args: z.looseObject({
    action: z.string(),
    fields: z.array(z.looseObject({ name: z.string(), value: z.string() })),
  }),
  asset: z.looseObject({ asset_id: z.string() }),
});

/** A file at Reddit that no post names yet: how galleries name it, and how other posts do. */
export const Asset = z.object({ id: z.string(), url: z.string() });
export type Asset = z.infer<typeof Asset>;

/** Brings a file to Reddit. `name`: of the step. */
export async function upload(item: MediaItem, name: string, io: PublishIo): Promise<Asset> {
  const asset = await sendUnseen(io, {
    step: `upload ${name}`,
    request: { url: item.url },
    send: async () => {
      const file = await fileOf(item, io);
      const form = { filepath: file.fileName, mimetype: file.mimeType, api_type: "json" };
      const call = { method: "POST", path: "/api/media/asset.json", form, isIdempotent: true } as const;
      const { args, asset: made } = await ask(io, call, Lease);
      const place = new URL(args.action, baseUrl(io)).href;
      const fields = args.fields.map(({ name: field, value }) => ({ name: field, text: value }));
      await io.request({
        ...UPLOAD_TIMES,
        method: "POST",
        url: place,
        // The file must be the last.
        multipart: [...fields, file],
        isIdempotent: true,
        classify: classifyUpload,
      });
      const key = args.fields.find(({ name: field }) => field === "key")?.value ?? "";
      return { id: made.asset_id, url: `${place.replace(/\/$/, "")}/${key}` };
    },
  });
  return Asset.parse(asset);
}

type File = Extract<FormPart, { readonly fileName: string }>;

async function fileOf(item: MediaItem, io: PublishIo): Promise<File> {
  const { type, mimeType, sizeBytes } = item.facts;
  if (type !== "image" || mimeType === "image/gif")
    return { name: "file", fileName: nameOf(mimeType), mimeType, sizeBytes, open: () => item.open() };
  const fitted = await io.media.fitImage(item, PICTURE);
  return { name: "file", fileName: nameOf(fitted.mimeType), mimeType: fitted.mimeType, bytes: fitted.bytes };
}

/** Reddit goes by its end. */
function nameOf(mimeType: string): string {
  const end = mimeType.split("/")[1] ?? "";
  return `file.${{ jpeg: "jpg", quicktime: "mov" }[end] ?? end}`;
}
