import { createHash } from "node:crypto";
import { AppError } from "./errors.ts";

const FINGERPRINT_CHARS = 12;

/** Where a page ended, bound to the filters it was read with. Opaque to callers. */
export function encodeCursor(position: string, filters: unknown): string {
  return Buffer.from(`${fingerprintOf(filters)}${position}`).toString("base64url");
}

/** The position of a cursor. Throws `invalid` for a text that is none, or a cursor of other filters. */
export function decodeCursor(cursor: string, filters: unknown): string {
  const text = Buffer.from(cursor, "base64url").toString();
  const [fingerprint, position] = [text.slice(0, FINGERPRINT_CHARS), text.slice(FINGERPRINT_CHARS)];
  if (!/^[0-9a-f]{12}$/.test(fingerprint) || position === "") throw unknownCursor();
  if (fingerprint !== fingerprintOf(filters)) {
    throw new AppError(
      "invalid",
      "cursor: belongs to other filters. Send the filters it was returned for (only limit may differ), or leave cursor out to begin at the first page.",
    );
  }
  return position;
}

/** The refusal of a cursor that we never gave out. */
export function unknownCursor(): AppError {
  return new AppError(
    "invalid",
    "cursor: is not valid. Send nextCursor of the previous page exactly as it was, or leave cursor out.",
  );
}

function fingerprintOf(filters: unknown): string {
  return createHash("sha256").update(JSON.stringify(filters)).digest("hex").slice(0, FINGERPRINT_CHARS);
}
