import type { MediaItem } from "../../../ports/media.ts";
import { PlatformFault, type PlatformIo, type PlatformRequest } from "../../../ports/platform-io.ts";
import { chunkAt, UPLOAD_TIMES } from "./chunks.ts";

const VERSION = { "tus-resumable": "1.0.0" } as const;

/** An upload by tus 1.0 (https://tus.io/protocols/resumable-upload) that exists, at an address that needs no token. */
export interface TusUpload {
  readonly url: string;
  readonly classify?: PlatformRequest["classify"];
}

/** How many bytes the server has; null where it does not know the upload (any more). */
export async function tusOffset(
  io: Pick<PlatformIo, "request">,
  { url, classify }: TusUpload,
): Promise<number | null> {
  const { status, headers } = await io.request({
    method: "HEAD",
    url,
    headers: VERSION,
    classify: (answer) => (isGone(answer) ? "ok" : (classify?.(answer) ?? null)),
  });
  return isGone({ status }) ? null : offsetOf(headers);
}

/** Sends the rest of a file from an offset on. A chunk that comes twice is refused, and stored once. */
export async function sendByTus(
  io: Pick<PlatformIo, "request">,
  {
    item,
    from,
    chunkBytes,
    url,
    classify,
  }: TusUpload & {
    readonly item: Pick<MediaItem, "open" | "facts">;
    readonly from: number;
    readonly chunkBytes: number;
  },
): Promise<void> {
  const totalBytes = item.facts.sizeBytes;
  let chunk = chunkAt({ totalBytes, chunkBytes, from });
  while (chunk !== null) {
    const { start, end, sizeBytes } = chunk;
    const { headers } = await io.request({
      ...UPLOAD_TIMES,
      isIdempotent: true,
      newConnection: true,
      method: "PATCH",
      url,
      headers: {
        ...VERSION,
        "content-type": "application/offset+octet-stream",
        "content-length": String(sizeBytes),
        "upload-offset": String(start),
      },
      body: () => item.open({ start, end }),
      classify: (answer) => {
        if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
          return new PlatformFault(
            "transient",
            "The platform asks for the upload to go on at another address.",
          );
        return classify?.(answer) ?? null;
      },
    });
    const next = offsetOf(headers);
    if (next <= start)
      throw new PlatformFault("transient", "The platform stored nothing of what was uploaded to it.");
    chunk = chunkAt({ totalBytes, chunkBytes, from: next });
  }
}

function isGone({ status }: { readonly status: number }): boolean {
  return status === 404 || status === 410;
}

function offsetOf(headers: Readonly<Record<string, string>>): number {
  const offset = Number(headers["upload-offset"]);
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new PlatformFault("transient", "The platform did not say how much of the upload it has.");
}
