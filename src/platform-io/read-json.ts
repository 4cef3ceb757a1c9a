import { isModestJson } from "../domain/whole-text.ts";

/** So many digits a number must have to be beyond 2^53. */
const LONG_NUMBER = /\d{16}/;

/** Strings, whole, so that nothing within one is taken for a number, and numbers. In JSON each has its end. */
const TOKENS = /"(?:[^"\\]|\\[^])*"?|-?\d[\d.eE+-]*/g;

const INTEGER = /^-?\d+$/;

/**
 * The text as JSON; null where it is none, or has more levels or values than an honest answer. Integers beyond 2^53, which a number would round, come as text:
 * platforms name posts and people by them.
 */
export function readJson(text: string): unknown {
  if (!isModestJson(text)) return null;
  const value = parse(text);
  return value === null || !LONG_NUMBER.test(text) ? value : parse(text.replace(TOKENS, quoteLong));
}

function quoteLong(token: string): string {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
