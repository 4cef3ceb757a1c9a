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
