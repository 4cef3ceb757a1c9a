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

/** The text without these signs at its end, however many: an expression would begin anew at each of them. */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end -= 1;
  return text.slice(0, end);
}
