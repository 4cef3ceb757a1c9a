import * as z from "zod";
import { oneLine } from "../../domain/text/plain-text.ts";
import { saysOf } from "../../ports/platform-values.ts";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { scrub } from "./secrets.ts";

/** So much of each text of an answer is read to find out what it means. */
const MAX_READ_CHARS = 2_000;

/** An answer that is no JSON is words for people only where it is short. */
const MAX_BARE_CHARS = 300;

/** How many of several errors are quoted. */
const MAX_ERRORS = 3;

/** Where platforms put what is wrong, the most particular first. */
const FIELDS = [
  "error_user_msg",
  "error_description",
  "errors",
  "context",
  "message",
  "error",
  "error_message",
  "detail",
  "details",
  "description",
  "msg",
  "reason",
  "error_summary",
  "title",
  "meta",
  "json",
];

/** In an answer of 2xx: the other fields may be those of a post. */
const FIELDS_OF_SUCCESS = ["errors", "error", "json"];

const Fields = z.record(z.string(), z.unknown());

/** The answer with its texts cut, for whatever looks into them for codes and words. */
export function cutTexts(response: PlatformResponse): PlatformResponse {
  const { text, json } = response;
  return text.length <= MAX_READ_CHARS
    ? response
    : { ...response, text: text.slice(0, MAX_READ_CHARS), json: cutValue(json) };
}

/** Not deeper than an answer may be, so that it may call itself. */
function cutValue(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, MAX_READ_CHARS);
  if (Array.isArray(value)) return value.map(cutValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cutValue(item)]));
}

/**
 * What follows a sentence of ours: the platform's words for what is wrong, as `saysOf` has them, without the
 * secrets that they may repeat.
 */
export function quoteWords(title: string, response: PlatformResponse, secrets: readonly string[]): string {
  const words = wordsIn(response);
  // Before they are cut: of a secret that the cut goes through, a part would stay.
  return saysOf(title, scrub(oneLine(scrub(words, secrets)), secrets.map(oneLine)));
}

/** "" where it says nothing that is meant for people. */
function wordsIn({ status, text, json }: PlatformResponse): string {
  if (json !== null) return status < 300 ? fieldsIn(json, FIELDS_OF_SUCCESS) : valueIn(json);
  const bare = text.trim();
  return status < 300 || bare.length > MAX_BARE_CHARS || bare.startsWith("<") ? "" : bare;
}

function valueIn(value: unknown): string {
  if (typeof value === "string") return value.trim();
  if (Array.isArray(value)) return listed(value);
  return fieldsIn(value, FIELDS);
}

function fieldsIn(value: unknown, names: readonly string[]): string {
  const fields = Fields.safeParse(value).data ?? {};
  for (const name of names.filter((one) => Object.hasOwn(fields, one))) {
    const words = name === "errors" ? errorsIn(fields[name]) : valueIn(fields[name]);
    if (words !== "") return words;
  }
  return "";
}

/** A list, or an object by the fields that are wrong. */
function errorsIn(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return valueIn(value);
  const own = fieldsIn(value, FIELDS);
  const others = Object.entries(value).filter(([name]) => !FIELDS.includes(name));
  return own === "" ? listed(others.map(([, item]) => item)) : own;
}

function listed(values: readonly unknown[]): string {
  const found = new Set<string>();
  for (const value of values) {
    if (found.size === MAX_ERRORS) break;
    const words = errorsIn(value);
    if (words !== "") found.add(words);
  }
  return [...found].join("; ");
}
