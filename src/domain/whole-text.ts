import { AppError } from "./errors.ts";
import { pathOf } from "./explain-invalid.ts";
import { quote } from "./text/plain-text.ts";

/** NUL ends a text for databases and platforms in C. A lone surrogate cannot be written in UTF-8. */
const BROKEN = /[\0\p{Cs}]/u;

/** Names of fields are the caller's own words and may be long. */
const MAX_FIELD_CHARS = 120;

/** Whether a text can be stored and sent as it is. */
export function isWholeText(text: string): boolean {
  return !BROKEN.test(text);
}

/** For texts of others, which cannot be mended: databases refuse NUL, or end the text there. */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

/** Throws `invalid` that names the first text that is not whole, and for a value that is nested too deep. */
export function requireWholeTexts(value: unknown, path: readonly (string | number)[] = []): void {
  if (path.length > MAX_JSON_DEPTH)
    throw new AppError(
      "invalid",
      `The arguments are nested deeper than ${MAX_JSON_DEPTH} levels. Flatten them.`,
    );
  if (typeof value === "string") {
    if (!isWholeText(value)) throw new AppError("invalid", `${fieldOf(path)}: holds ${whatIsBroken(value)}`);
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) requireWholeTexts(item, [...path, at]);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (!isWholeText(name))
        throw new AppError(
          "invalid",
          `${fieldOf(path)}: the name ${quote(name)} holds ${whatIsBroken(name)}`,
        );
      requireWholeTexts(item, [...path, name]);
    }
  }
}

function fieldOf(path: readonly (string | number)[]): string {
  const field = path.length === 0 ? "arguments" : pathOf(path);
  return field.length > MAX_FIELD_CHARS ? `${field.slice(0, MAX_FIELD_CHARS)}…` : field;
}

function whatIsBroken(text: string): string {
  return text.includes("\0")
    ? "the character NUL (U+0000). Take it out."
    : "half of a surrogate pair, which is no character. Send the whole character, or leave it out.";
}

/** More than any platform's fields need, less than what exhausts the stack of a function that walks them. */
const MAX_JSON_DEPTH = 64;

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
