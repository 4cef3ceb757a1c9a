import type { NextStep, Sentence } from "../../src/domain/sentences.ts";
import { inWords, PAGE_WORDS, type Words } from "../words.ts";
import { isJson, type Json, textOf } from "./json.ts";

/** The sentences of each text, by the object that holds the text. */
const BEHIND = new WeakMap<object, Map<string, readonly Sentence[]>>();

/** The sentences that the text at `key` says; where the server sent none, the text as one. */
export function sentencesBehind(holder: object, key: string | number): readonly Sentence[] {
  const known = BEHIND.get(holder)?.get(String(key));
  return known ?? sentencesOf(textOf(Reflect.get(holder, key)));
}

/** A text that came without its sentences. */
export function sentencesOf(text: string): readonly Sentence[] {
  return text === "" ? [] : [{ field: null, what: text, next: [] }];
}

/** Replaces the server's sentences in the answer by words for people. `sentences`: by JSON pointers into it. */
export function wordAnswer(answer: Json, sentences: unknown, words: Words): void {
  if (!isJson(sentences)) return;
  for (const [pointer, list] of Object.entries(sentences)) {
    const path = pointer.split("/").slice(1).map(unescaped);
    const key = path.pop() ?? "";
    const holder = path.reduce<unknown>((at, part) => (isHolder(at) ? Reflect.get(at, part) : null), answer);
    const said = readSentences(list);
    if (!isHolder(holder) || typeof Reflect.get(holder, key) !== "string" || said.length === 0) continue;
    Reflect.set(holder, key, inWords(said, words));
    keepBehind(holder, key, said);
  }
}

/** Remembers the sentences of the text at `key`. */
export function keepBehind(holder: object, key: string, said: readonly Sentence[]): void {
  const kept = BEHIND.get(holder) ?? new Map<string, readonly Sentence[]>();
  BEHIND.set(holder, kept.set(key, said));
}

/** Sentences as the server sends them. Steps that this page has no words for are left out. */
export function readSentences(list: unknown): readonly Sentence[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isJson).map(({ field, what, next }) => ({
    field: textOf(field) || null,
    what: textOf(what),
    next: Array.isArray(next) ? next.filter(isStep) : [],
  }));
}

/** The view may be older than the server. */
function isStep(value: unknown): value is NextStep {
  return isJson(value) && Object.hasOwn(PAGE_WORDS, textOf(value["do"]));
}

function isHolder(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function unescaped(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
