import type { Capabilities } from "./account.ts";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The length of a text in the unit a platform counts in: code points, graphemes, UTF-8 bytes or UTF-16 units. */
export function measureText(text: string, unit: Capabilities["caption"]["unit"]): number {
  switch (unit) {
    case "characters":
      return [...text].length;
    case "graphemes":
      return [...graphemes.segment(text)].length;
    case "bytes":
      return Buffer.byteLength(text, "utf8");
    case "utf16":
      return text.length;
  }
}
