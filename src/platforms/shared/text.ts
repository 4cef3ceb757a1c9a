import tlds from "tlds" with { type: "json" };

/** What names of hosts end in. */
export const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set(tlds);

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** The text that a browser shows of a piece of HTML, as far as comparing needs it: breaks are line ends. */
export function textOfHtml(html: string): string {
  return html
    .replace(/<br\b[^<>]*>|<\/p>/gi, "\n")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));/gi, (whole, decimal, hex, name) =>
      decimal === undefined && hex === undefined
        ? (NAMED[String(name).toLowerCase()] ?? whole)
        : characterOf(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)),
    );
}

function characterOf(code: number): string {
  return code > 0x10ffff ? "" : String.fromCodePoint(code);
}

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
