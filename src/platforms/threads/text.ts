import { measureText } from "../../domain/posts/caption.ts";

export const MAX_TEXT = 500;
/** https://developers.facebook.com/docs/threads/overview: since December 2025. */
const MAX_LINKS = 5;

const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Presentation}|\p{Regional_Indicator}|\u20E3/u;

let segmenter: Intl.Segmenter | null = null;

/** Characters, but an emoji counts as many as it has bytes in UTF-8. */
export function measure(text: string): number {
  if (!EMOJI.test(text)) return measureText(text, "characters");
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  let length = 0;
  for (const { segment } of segmenter.segment(text))
    length += EMOJI.test(segment) ? Buffer.byteLength(segment) : [...segment].length;
  return length;
}

/** Whether a text and the link beside it name more addresses than a post may. */
export function hasTooManyLinks(text: string, link: string | undefined): boolean {
  const links = new Set([
    ...(text.match(/\bhttps?:\/\/[^\s<>"]+/gi) ?? []),
    ...(link === undefined ? [] : [link]),
  ]);
  return links.size > MAX_LINKS;
}

export const LINKS_SENTENCE = `names more than the ${MAX_LINKS} addresses that Threads takes. Leave some out.`;
