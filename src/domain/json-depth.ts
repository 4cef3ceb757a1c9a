/**
 * Far more than any platform's fields need, far less than what exhausts the stack of whatever walks the
 * value.
 */
export const MAX_JSON_DEPTH = 64;

/** More values than any platform answers in 1 MiB, and few enough to be read in some milliseconds. */
const MAX_JSON_VALUES = 100_000;

/** Whether the value has more levels than that. Does not recurse itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}

const [QUOTE, BACKSLASH, COMMA] = ['"', "\\", ","].map((sign) => sign.charCodeAt(0));
const OPENING = new Set(["[", "{"].map((sign) => sign.charCodeAt(0)));
const CLOSING = new Set(["]", "}"].map((sign) => sign.charCodeAt(0)));

/** Whether a text that may be JSON has no more levels and values than that. It is told before it is parsed. */
export function isModestJson(text: string): boolean {
  let depth = 0;
  let values = 1;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (isInText) {
      if (sign === BACKSLASH) at += 1;
      else if (sign === QUOTE) isInText = false;
    } else if (sign === QUOTE) isInText = true;
    else if (sign === COMMA) values += 1;
    else if (OPENING.has(sign)) depth += 1;
    else if (CLOSING.has(sign)) depth -= 1;
    if (depth > MAX_JSON_DEPTH || values > MAX_JSON_VALUES) return false;
  }
  return true;
}
