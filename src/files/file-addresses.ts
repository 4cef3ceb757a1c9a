import { timingSafeEqual } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import { HOUR, MINUTE, SECOND } from "../domain/time.ts";
import type { AppContext } from "../context.ts";

/** How long an address in a file's record works. */
const DOWNLOAD_MS = HOUR;
const UPLOAD_MS = 15 * MINUTE;

type Signer = Pick<AppContext, "cipher" | "clock" | "publicUrl">;

/** What an address is good for; a signature for one does not open the other. */
type Purpose = "download" | "upload" | "copy";

const NEXT: Record<Purpose, string> = {
  download: "Take a new one from list_files.",
  upload: "Ask for a new one with upload_file.",
  copy: "It was made for one post, and for the platform that it went to.",
};

/** What stands in a signed address, as it came in. */
export interface SignedParts {
  readonly id: string;
  readonly expires: string;
  readonly signature: string;
}

export async function createDownloadUrl(ctx: Signer, id: string, lastsMs = DOWNLOAD_MS): Promise<string> {
  return (await createUrl(ctx, "download", { id, lastsMs })).url;
}

/** Of a copy that a platform fetches (`PostMedia.publicUrl`). */
export async function createCopyUrl(ctx: Signer, name: string, lastsMs: number): Promise<string> {
  return (await createUrl(ctx, "copy", { id: name, lastsMs })).url;
}

export function createUploadUrl(ctx: Signer, id: string): Promise<{ url: string; expiresAt: number }> {
  return createUrl(ctx, "upload", { id, lastsMs: UPLOAD_MS });
}

async function createUrl(
  ctx: Signer,
  purpose: Purpose,
  { id, lastsMs }: { id: string; lastsMs: number },
): Promise<{ url: string; expiresAt: number }> {
  const expires = Math.ceil((ctx.clock.now() + lastsMs) / SECOND);
  const signature = sign(ctx, purpose, { id, expires: String(expires) });
  const url = `${await ctx.publicUrl()}/files/${id}/${purpose}?expires=${expires}&signature=${signature}`;
  return { url, expiresAt: expires * SECOND };
}

/** Throws `not_found` for an address that we never gave out, `forbidden` for one whose time is over. */
export function checkSigned(ctx: Signer, purpose: Purpose, parts: SignedParts): void {
  const wanted = Buffer.from(sign(ctx, purpose, parts));
  const given = Buffer.from(parts.signature);
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) {
    throw new AppError(
      "not_found",
      `There is nothing to ${purpose === "copy" ? "download" : purpose} at this address.`,
    );
  }
  if (Number(parts.expires) * SECOND > ctx.clock.now()) return;
  throw new AppError("forbidden", `This address has expired. ${NEXT[purpose]}`);
}

function sign(ctx: Signer, purpose: Purpose, parts: { id: string; expires: string }): string {
  return ctx.cipher.sign(`file ${purpose}`, `${parts.id}\n${parts.expires}`);
}
