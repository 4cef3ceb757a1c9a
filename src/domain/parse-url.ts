/**
 * The address that a text is, or null where it is none.
 *
 * Not `URL.canParse`: Node 20 and 22 answer no to letters as "ü" in an address once the call has become hot
 * (they read the Latin-1 of a one-byte string as UTF-8).
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** What is wrong with a text that is no http(s) address, and what to give. */
export function explainNoAddress(text: string): string {
  const rest = /^https?:\/\/(.*)$/is.exec(text.trim())?.[1];
  if (rest === undefined) return "is not an http(s) address. Give one that begins with https://.";
  if (/\s/.test(rest)) return "has a blank, which no address has. Give it without.";
  return "has no host that can be read. Check the part after https://.";
}

/** The text without these signs at its end, however many: an expression would begin anew at each of them. */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end -= 1;
  return text.slice(0, end);
}

const MAX_SHOWN_CHARS = 100;

/** As a person reads it: a long one without its query. */
export function shortAddress(address: string): string {
  const query = address.indexOf("?");
  return address.length <= MAX_SHOWN_CHARS || query === -1 ? address : `${address.slice(0, query)}?…`;
}

interface TextPart {
  readonly kind: "text" | "link";
  readonly text: string;
}

const ADDRESS = /https?:\/\/[^\s<>"'`]{1,2000}/gi;

/** A text with its web addresses apart; a sentence's own punctuation after them belongs to the text. */
export function linksOf(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let done = 0;
  for (const { 0: match, index } of text.matchAll(ADDRESS)) {
    const address = withoutPunctuation(match);
    if (parseUrl(address) === null) continue;
    parts.push({ kind: "text", text: text.slice(done, index) }, { kind: "link", text: address });
    done = index + address.length;
  }
  parts.push({ kind: "text", text: text.slice(done) });
  return parts.filter((part) => part.text !== "");
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
