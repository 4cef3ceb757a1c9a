import { parseUrl, shortAddress } from "../../domain/parse-url.ts";
import { createHash } from "node:crypto";

/** Markup that is safe to send: made by `html`, which escapes everything put into it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template; null, undefined and false leave nothing. */
type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

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

const ADDRESS = /https?:\/\/[^\s<>"'`]{1,2000}/gi;

/** Web addresses in a text become links; a sentence's own punctuation after them does not. */
export function withLinks(line: string, toLink: (address: string) => Html = plainLink): (string | Html)[] {
  const parts: (string | Html)[] = [];
  let done = 0;
  for (const match of line.matchAll(ADDRESS)) {
    const address = withoutPunctuation(match[0]);
    if (parseUrl(address) === null) continue;
    parts.push(line.slice(done, match.index), toLink(address));
    done = match.index + address.length;
  }
  return [...parts, line.slice(done)];
}

function plainLink(address: string): Html {
  return html`<a href="${address}">${address}</a>`;
}

/** Opens beside the page, on which something may be entered already. */
export function linkBeside(address: string): Html {
  return html`<a href="${address}" rel="noreferrer noopener" target="_blank">${shortAddress(address)}</a>`;
}

/** A closing bracket belongs to the address only where one was opened in it. */
function withoutPunctuation(address: string): string {
  let end = address.length;
  for (;;) {
    const last = address.charAt(end - 1);
    const isClosing = last === ")" && !address.slice(0, end).includes("(");
    if (end === 0 || !(isClosing || ".,:;!?…]}*_".includes(last))) return address.slice(0, end);
    end -= 1;
  }
}

/** Without the clipboard, which browsers give only over https and here, the text is selected. */
const COPY_CODE = `
for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.previousElementSibling;
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      isCopied = document.execCommand("copy");
    }
    button.textContent = isCopied ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}
`;

/** Of the buttons that copy. */
export const COPY_SCRIPT = new Html(`<script>${COPY_CODE}</script>`);

/** What a page with something to copy allows: this script and no other. */
export const COPYING = {
  "script-src": [`'sha256-${createHash("sha256").update(COPY_CODE).digest("base64")}'`],
};

/** A text with a button that copies it; the page takes `COPY_SCRIPT` along. */
export function snippet(text: string): Html {
  return html`<div class="snippet">
    <pre>${text}</pre>
    <button type="button" class="copy" aria-live="polite" hidden>Copy</button>
  </div>`;
}
