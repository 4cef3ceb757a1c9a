import { AppError } from "../../domain/errors.ts";
import { publicKeyOf } from "./event.ts";
import { decodeName } from "./names.ts";

export const KEY_PLACE = "Your Nostr app shows it under Settings, Keys or Backup, as the private key.";

/** The secret key in hex, of nsec1… or hex. Throws `invalid`. */
export function secretIn(text: string): string {
  const given = text.trim();
  const name = /^nsec1/i.test(given) ? decodeName(given) : null;
  const hex = name === null ? given.toLowerCase() : name.bytes.toString("hex");
  if (/^npub1/i.test(given))
    throw new AppError(
      "invalid",
      `nsec: is the public key. Give the one that begins with nsec1. ${KEY_PLACE}`,
    );
  if (!/^[0-9a-f]{64}$/.test(hex) || !isKey(hex))
    throw new AppError("invalid", `nsec: is not a Nostr private key. Copy all of it. ${KEY_PLACE}`);
  return hex;
}

/** Few numbers of 32 bytes are none. */
function isKey(hex: string): boolean {
  try {
    publicKeyOf(hex);
    return true;
  } catch {
    return false;
  }
}
