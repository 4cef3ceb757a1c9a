import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { ACCEPTED } from "../shared/media/accepted.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { MAX_FILES } from "./metadata.ts";

/** What its apps show in the channel. */
const PICTURES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

export function acceptedUpTo(maxBytes: number): AcceptedMedia[] {
  return [
    { kind: "image", mimeTypes: PICTURES, maxBytes, maxItems: MAX_FILES },
    {
      kind: "video",
      mimeTypes: ["video/mp4", "video/webm", "video/quicktime"],
      maxBytes,
      maxItems: MAX_FILES,
    },
    { kind: "audio", mimeTypes: ACCEPTED.audio, maxBytes, maxItems: MAX_FILES },
  ];
}

interface Place {
  readonly at: number;
  readonly maxBytes: number;
  readonly io: PublishIo;
}

/** A file, as the part that attachment `at` stands for. */
export async function toFile(item: MediaItem, { at, maxBytes, io }: Place): Promise<FormPart> {
  const name = `files[${at}]`;
  const { type, mimeType, sizeBytes } = item.facts;
  if (type !== "image")
    return {
      name,
      fileName: fileNameOf(mimeType, `${at + 1}`),
      mimeType,
      sizeBytes,
      open: () => item.open(),
    };
  const fitted = await io.media.fitImage(item, { maxBytes, mimeTypes: PICTURES });
  return {
    name,
    fileName: fileNameOf(fitted.mimeType, `${at + 1}`),
    mimeType: fitted.mimeType,
    bytes: fitted.bytes,
  };
}
