/** Markup that is safe to send: made by `xml`, which escapes everything put into it. */
export class Xml {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template; null, undefined and false leave nothing. */
type XmlValue = Xml | string | number | null | undefined | false | readonly XmlValue[];

/**
 * Builds XML. Every value is escaped for text and quoted attributes unless it is `Xml` itself; attributes
 * must be quoted.
 */
export function xml(parts: TemplateStringsArray, ...values: readonly XmlValue[]): Xml {
  return new Xml(parts.map((part, at) => part + (at < values.length ? render(values[at]) : "")).join(""));
}

function render(value: XmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Xml) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeXml(String(value));
  return value.map(render).join("");
}

/**
 * Control characters, halves of surrogate pairs and the like, which no XML 1.0 document may hold, not even
 * escaped.
 */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  // Parsers turn a bare one into a line feed.
  "\r": "&#13;",
};

/** For text and for attributes in quotes; what XML cannot hold becomes the replacement character. */
function escapeXml(text: string): string {
  return text
    .replace(FORBIDDEN, "\uFFFD")
    .replace(/[&<>"'\r]/g, (character) => ENTITIES[character] ?? character);
}
