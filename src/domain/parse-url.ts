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
