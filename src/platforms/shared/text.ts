import tlds from "tlds" with { type: "json" };

/** What names of hosts end in. */
export const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set(tlds);

/**
 * What is left of a text when servers have linked, marked up and wrapped it: its letters, digits and emoji;
 * where it has none, all but spaces. Only for comparing.
 */
export function comparable(text: string): string {
  const plain = text.normalize("NFC");
  const bare = plain.replace(/[^\p{L}\p{N}\p{Extended_Pictographic}]/gu, "");
  return bare === "" ? plain.replace(/\s/g, "") : bare;
}

/** Markdown joins lines of a paragraph; two spaces at its end keep a line one. */
export function keepLines(text: string): string {
  return text.replace(/(?<!\n)\n(?!\n)/g, "  \n");
}
