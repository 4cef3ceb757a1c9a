import type { Capabilities } from "../accounts/account.ts";

/** An address in a text, without what ends the sentence it stands in. */
const WEB_ADDRESS = /\bhttps?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/gi;

/**
 * The length of a caption as its platform counts it: each address as `urlLength` where it has one, `weighted`
 * texts by the platform's own `measure`.
 */
export function captionLength(
  text: string,
  { unit, urlLength }: Pick<Capabilities["caption"], "unit" | "urlLength">,
  measure: ((text: string) => number) | undefined,
): number {
  const counted = urlLength === undefined ? text : text.replace(WEB_ADDRESS, "x".repeat(urlLength));
  if (unit !== "weighted") return measureText(counted, unit);
  if (measure === undefined) throw new Error("A platform that weighs its captions must measure them.");
  return measure(counted);
}

/** Made when first needed: it reads tables that cost more than all other modules of a start. */
let segmenter: Intl.Segmenter | null = null;

/**
 * The length of a text in the unit a platform counts in: code points, graphemes, UTF-8 bytes or UTF-16 units.
 */
export function measureText(
  text: string,
  unit: Exclude<Capabilities["caption"]["unit"], "weighted">,
): number {
  switch (unit) {
    case "characters":
      return [...text].length;
    case "graphemes":
      segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
      return [...segmenter.segment(text)].length;
    case "bytes":
      return Buffer.byteLength(text, "utf8");
    case "utf16":
      return text.length;
  }
}
