import * as z from "zod";
import { parseUrl } from "../domain/parse-url.ts";
import { plainText } from "../domain/text/plain-text.ts";

/** Longer than the ids of all platforms: those of Bluesky are addresses of some 80 characters. */
const MAX_ID_CHARS = 512;

const MAX_ADDRESS_CHARS = 2_048;

/** No control character, no mark that turns the direction, no line end, no half of a character. */
const VISIBLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

const NO_SPACE = /^[^\s\p{C}]+$/u;

/** The id of a post, an account, a file, as the platform names it; numbers become texts. */
export const Id = z.union([z.string().max(MAX_ID_CHARS).regex(VISIBLE), z.int()]).transform(String);

/**
 * For `refine`: whether this reads it, for what is read later on. What cannot be read is an answer that was not
 * given properly, never an error of ours.
 */
export function readableBy(read: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };
}

/** The address of a page, a picture or a server that a platform names: http or https. */
export const WebAddress = z.string().refine(isAddress, "is not a web address");

function isAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS_CHARS || !NO_SPACE.test(text)) return false;
  const protocol = parseUrl(text)?.protocol;
  return protocol === "https:" || protocol === "http:";
}

/** Whether it may be stored and shown as the id of something on a platform. */
export function isFitId(text: string): boolean {
  return Id.safeParse(text).success;
}

/** The address where it may be stored and shown as one; null for all others. */
export function fitAddress(text: string | null): string | null {
  return text !== null && isAddress(text) ? text : null;
}

/** Longest quotation of a platform in a sentence for people. */
const MAX_WORDS_CHARS = 300;

/** Follows a sentence of ours: ` Mastodon says: "…"`, or "". The words cannot close their quotes. */
export function saysOf(title: string, words: string): string {
  const quoted = plainText(words, MAX_WORDS_CHARS).replaceAll('"', "'");
  return quoted === "" ? "" : ` ${title} says: "${quoted}"`;
}
