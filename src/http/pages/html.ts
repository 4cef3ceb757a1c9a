import { linksOf, shortAddress } from "../../domain/parse-url.ts";

/** Markup that is safe to send: made by `html`, which escapes everything put into it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template; null, undefined and false leave nothing. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** HTML or XML. Each value but `Html` is escaped for text and attributes in quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, at) => part + (at < values.length ? render(values[at]) : "")).join(""));
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeMarkup(String(value));
  return value.map(render).join("");
}

/** What no XML 1.0 document may hold, not even escaped: control characters, halves of surrogate pairs, …. */
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

/** A text whose web addresses are links. */
export function withLinks(line: string, toLink: (address: string) => Html = linkBeside): (string | Html)[] {
  return linksOf(line).map(({ kind, text }) => (kind === "link" ? toLink(text) : text));
}

/** Opens beside the page, on which something may be entered already. */
export function linkBeside(address: string): Html {
  return html`<a href="${address}" rel="noreferrer noopener" target="_blank">${shortAddress(address)}</a>`;
}

export function list(kind: "ol" | "ul", items: readonly HtmlValue[]): Html {
  const tag = new Html(kind);
  return html`<${tag}>${items.map((item) => html`<li>${item}</li>`)}</${tag}>`;
}

/** A text with a button that copies it; the page takes the script `COPY` along. */
export function snippet(text: string): Html {
  return html`<div class="snippet">
    <pre>${text}</pre>
    <button type="button" class="copy" aria-live="polite" hidden>Copy</button>
  </div>`;
}
