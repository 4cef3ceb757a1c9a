/** Markup that is safe to send: made by `html`, which escapes everything put into it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template; null, undefined and false leave nothing. */
type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/**
 * Builds HTML or XML. Every value is escaped for text and quoted attributes unless it is `Html` itself;
 * attributes must be quoted.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, at) => part + (at < values.length ? render(values[at]) : "")).join(""));
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeMarkup(String(value));
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
  // Parsers of XML turn a bare one into a line feed.
  "\r": "&#13;",
};

/** For text and for attributes in quotes; what XML cannot hold becomes the replacement character. */
function escapeMarkup(text: string): string {
  return text
    .replace(FORBIDDEN, "\uFFFD")
    .replace(/[&<>"'\r]/g, (character) => ENTITIES[character] ?? character);
}
