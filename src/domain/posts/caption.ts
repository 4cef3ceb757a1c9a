import type { Capabilities } from "../accounts/account.ts";

/** Made when first needed: it reads tables that cost more than all other modules of a start. */
let segmenter: Intl.Segmenter | null = null;

/**
 * The length of a text in the unit a platform counts in: code points, graphemes, UTF-8 bytes or UTF-16 units.
 */
export function measureText(text: string, unit: Capabilities["caption"]["unit"]): number {
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
