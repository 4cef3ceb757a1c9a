import { AppError } from "../../../domain/errors.ts";
import type { PlatformCapabilities } from "../../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../../ports/media.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import type { FormPart } from "../../../ports/request-body.ts";
import { fileNameOf } from "../media/file-name.ts";

type Accepts = PlatformCapabilities["media"]["accepts"];

/** A picture within the limits, as a part of a form. */
export async function picturePart(
  name: string,
  item: MediaItem,
  { io, accepts }: { readonly io: PublishIo; readonly accepts: Accepts },
): Promise<FormPart> {
  const limits = accepts.find(({ kind }) => kind === "image");
  if (limits === undefined || typeof limits.maxBytes !== "number")
    throw new AppError("invalid", `${name}: this server takes no pictures.`);
  const { maxBytes, mimeTypes, maxWidth, maxHeight } = limits;
  const sides = maxWidth === undefined || maxHeight === undefined ? {} : { maxWidth, maxHeight };
  const fitted = await io.media.fitImage(item, { maxBytes, mimeTypes, ...sides });
  return { name, fileName: fileNameOf(fitted.mimeType), mimeType: fitted.mimeType, bytes: fitted.bytes };
}

/** A picture, or what is sent as it is, as a part of a form; large files are read as they are sent. */
export async function filePart(
  name: string,
  item: MediaItem,
  at: { readonly io: PublishIo; readonly accepts: Accepts },
): Promise<FormPart> {
  const { type, mimeType, sizeBytes } = item.facts;
  if (type === "image") return picturePart(name, item, at);
  return { name, fileName: fileNameOf(mimeType), mimeType, sizeBytes, open: () => item.open() };
}
