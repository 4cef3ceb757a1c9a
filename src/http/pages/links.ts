import { parseUrl } from "../../domain/parse-url.ts";
import { html, type Html } from "./html.ts";

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
  return html`<a href="${address}" rel="noreferrer noopener" target="_blank">${address}</a>`;
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
