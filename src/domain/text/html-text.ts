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
