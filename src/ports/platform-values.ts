import * as z from "zod";
import { parseUrl } from "../domain/parse-url.ts";

/** Longer than the ids of all platforms: those of Bluesky are addresses of some 80 characters. */
const MAX_ID_CHARS = 512;

const MAX_ADDRESS_CHARS = 2_048;

/** Sessions of Google's and LinkedIn's uploads carry what they know in the address. */
const MAX_UPLOAD_ADDRESS_CHARS = 8_192;

/** No control character, no mark that turns the direction, no line end, no half of a character. */
const VISIBLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

const NO_SPACE = /^[^\s\p{C}]+$/u;

/** The id of a post, an account, a file, as the platform names it; numbers become texts. */
export const Id = z.union([z.string().max(MAX_ID_CHARS).regex(VISIBLE), z.int()]).transform(String);

/** The address of a page, a picture or a server that a platform names: http or https. */
export const WebAddress = addressOf(MAX_ADDRESS_CHARS);

/** The address that a file is sent to, or read from, which may hold a session. */
export const UploadAddress = addressOf(MAX_UPLOAD_ADDRESS_CHARS);

function addressOf(maxChars: number) {
  return z.string().refine((text) => isAddress(text, maxChars), "is no web address");
}

function isAddress(text: string, maxChars: number): boolean {
  if (text.length > maxChars || !NO_SPACE.test(text)) return false;
  const protocol = parseUrl(text)?.protocol;
  return protocol === "https:" || protocol === "http:";
}

/** Whether it may be stored and shown as the id of something on a platform. */
export function isFitId(text: string): boolean {
  return Id.safeParse(text).success;
}

/** The address where it may be stored and shown as one; null for all others. */
export function fitAddress(text: string | null): string | null {
  return text !== null && isAddress(text, MAX_ADDRESS_CHARS) ? text : null;
}
