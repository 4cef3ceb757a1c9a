import { plainText } from "../domain/plain-text.ts";

/** Longest quotation of a platform in a sentence for people. */
export const MAX_WORDS_CHARS = 300;

/**
 * What stands after a sentence of ours where a platform said why: ` Mastodon says: "…"`; "" where it said
 * nothing. The words cannot close their quotes.
 */
export function saysOf(title: string, words: string): string {
  const quoted = plainText(words, MAX_WORDS_CHARS).replaceAll('"', "'");
  return quoted === "" ? "" : ` ${title} says: "${quoted}"`;
}
