import type { Capabilities } from "../accounts/account.ts";

/** An address in a text, without what ends the sentence it stands in. */
export const WEB_ADDRESS = /\bhttps?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/gi;

/** Spaces, marks of direction, fillers and the like (Unicode: Default_Ignorable_Code_Point; Braille's blank). */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]*$/u;

/** Whether a reader would see nothing of it. */
export function isBlank(text: string): boolean {
  return UNSEEN.test(text);
}

/** A caption's length as its platform counts it. `urlLength`: what each address counts, where that is one figure. */
export function captionLength(
  text: string,
  { unit, urlLength }: Pick<Capabilities["caption"], "unit" | "urlLength">,
  measure: ((text: string, urlLength?: number) => number) | undefined,
): number {
  if (unit !== "weighted") return measureText(text, unit);
  if (measure === undefined) throw new Error("A platform that weighs its captions must measure them.");
  return measure(text, urlLength);
}

/** Made when first needed: it reads tables that cost more than all other modules of a start. */
let segmenter: Intl.Segmenter | null = null;

/** The length of a text in code points, graphemes, UTF-8 bytes or UTF-16 units. */
export function measureText(
  text: string,
  unit: Exclude<Capabilities["caption"]["unit"], "weighted">,
): number {
  switch (unit) {
    case "characters":
      return [...text].length;
    case "graphemes":
      return countGraphemes(text);
    case "bytes":
      return Buffer.byteLength(text, "utf8");
    case "utf16":
      return text.length;
  }
}

const PIECE = 1_024;

function countGraphemes(text: string): number {
  let count = 0;
  for (const _grapheme of graphemesOf(text)) count += 1;
  return count;
}

/** In pieces: each segment of V8 holds a copy of its whole text, so a long one would take its square. */
export function* graphemesOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  let start = 0;
  let size = PIECE;
  while (start + size < text.length) {
    // Half a character would stand for itself.
    const end = start + size + (/[\uD800-\uDBFF]/.test(text.charAt(start + size - 1)) ? 1 : 0);
    const segments = [...segmenter.segment(text.slice(start, end))];
    // The last one may go on in the next piece.
    const { index = 0 } = segments.pop() ?? {};
    for (const { segment } of segments) yield segment;
    start += index;
    size = index === 0 ? size * 2 : PIECE;
  }
  for (const { segment } of segmenter.segment(text.slice(start))) yield segment;
}
