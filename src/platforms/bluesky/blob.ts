import type { Readable } from "node:stream";
import * as z from "zod";
import { PlatformFault, type Json } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { asNotSent } from "../shared/not-sent.ts";
import { pdsOf } from "./session.ts";
import { ownXrpc } from "./xrpc.ts";

/** A blob as records name it: its id is the hash of its bytes. */
export const Blob = z.object({
  $type: z.literal("blob"),
  ref: z.object({ $link: z.string().regex(/^b[a-z2-7]{20,200}$/) }),
  mimeType: z.string(),
  size: z.int(),
});
export type Blob = z.infer<typeof Blob>;

/** How media is sent: once and under the protocol, or all over again because the server has dropped it. */
export interface Sending {
  readonly io: PublishIo;
  /** Part and place, unique in the post. */
  readonly name: string;
  readonly isAgain: boolean;
}

/**
 * One upload under the protocol. What it leaves behind is named by the hash of its bytes and seen by nobody
 * before a record names it: a lost answer leaves nothing in doubt, and sending it again changes nothing.
 */
export async function uploadOnce<R extends Json>(
  to: Sending,
  url: string,
  send: () => Promise<R>,
): Promise<Json> {
  return to.io.effect<Json>({
    step: `upload ${to.name}`,
    request: { url },
    send: () =>
      send().catch((error: unknown) => {
        throw asNotSent(error);
      }),
    settle: async () => ({ outcome: "send_again" }),
  });
}

/** A file on the account's own server. */
export async function sendBlob(to: Sending, url: string, upload: Upload): Promise<Blob> {
  if (to.isAgain) return uploadBlob(to.io, upload);
  return Blob.parse(await uploadOnce(to, url, () => uploadBlob(to.io, upload)));
}

interface Upload {
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The bytes; a fresh stream for each try. */
  readonly body: Buffer | (() => Readable);
}

async function uploadBlob(io: PublishIo, upload: Upload): Promise<Blob> {
  const call = {
    base: pdsOf(io),
    nsid: "com.atproto.repo.uploadBlob",
    headers: { "content-type": upload.mimeType, "content-length": String(upload.sizeBytes) },
    body: upload.body,
    isIdempotent: true,
    ...UPLOAD_TIMES,
  };
  const { blob } = await ownXrpc(io, call, z.looseObject({ blob: Blob }));
  if (blob.size === upload.sizeBytes) return blob;
  throw new PlatformFault("transient", "Bluesky received a file only in part.");
}
