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

/**
 * Writes a text so that readers of Markdown see it character by character. Addresses stay as they are (an escape
 * would become part of them); what begins a line as a list, a heading or a quotation gets a backslash, and so
 * does what is markup anywhere. Both as they stand between the brackets of a regular expression.
 */
export function markdownEscaper({
  starts,
  signs,
}: {
  readonly starts: string;
  readonly signs: string;
}): (text: string) => string {
  const address = "https?:\\/\\/[^\\s<]*[^\\s<.,:;\"'\\])]";
  const markup = `(${address})|(^[ \\t]*\\d+(?=\\.\\s))|(^[ \\t]*(?=[${starts}]))|[${signs}]`;
  const pattern = new RegExp(markup, "gim");
  return (text) =>
    text.replace(
      pattern,
      (found: string, link?: string, number?: string, lineStart?: string) =>
        link ?? (number === undefined && lineStart === undefined ? `\\${found}` : `${found}\\`),
    );
}

/** Markdown joins lines of a paragraph; two spaces at its end keep a line one. */
export function keepLines(text: string): string {
  return text.replace(/(?<!\n)\n(?!\n)/g, "  \n");
}
