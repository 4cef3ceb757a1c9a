import { type AssertionName, ASSERTIONS, holds } from "./assertions.ts";
import { Message, type Said, type Sentence, sentencesIn, withField } from "./sentences.ts";

/** What went wrong, in the caller's terms. Each face has a code for a kind (HTTP: `src/http/errors.ts`). */
const ERROR_KINDS = [
  "invalid",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "too_large",
  "unsupported",
  "rate_limited",
  "unavailable",
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

/**
 * The one error that reaches a caller: sentences of ours as data, which a face words. What a platform said may follow
 * them, quoted (`saysOf`); its whole answer belongs in `cause`, which only the log sees. `message`: without what can
 * be done, for the log.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly sentences: readonly Sentence[];

  /** A message beyond `MAX_SENTENCE_CHARS` is cut: it may quote what a caller or a platform sent. */
  constructor(kind: ErrorKind, said: Said | readonly Said[], options?: { cause?: unknown }) {
    const sentences = boundedSentences(sayings(said).flatMap(sentencesIn));
    super(String(new Message(sentences)), options);
    this.name = "AppError";
    this.kind = kind;
    this.sentences = sentences;
  }

  /** What it says, as one text. */
  get said(): Message {
    return new Message(this.sentences);
  }

  /** The same about another field: of a part, or of the call that made it. */
  about(field: string): AppError {
    return new AppError(this.kind, withField(this.said, field), { cause: this });
  }
}

/** Nothing of what was to be done is done. The sentence is for the post and the caller; the place is in the log. */
export class AssertionFailed extends AppError {
  constructor(name: AssertionName) {
    super("unavailable", `A check of Posthorn's own stopped this: ${ASSERTIONS[name]}`);
    this.name = "AssertionFailed";
  }
}

/** Throws `AssertionFailed` where it is not so. `id`: of the post or the draft. */
export function assert(name: AssertionName, condition: boolean, id: string): void {
  if (!holds(name, condition, id)) throw new AssertionFailed(name);
}

function sayings(said: Said | readonly Said[]): readonly Said[] {
  return typeof said === "string" || said instanceof Message ? [said] : said;
}

/** Of a change that changes nothing. `way`: what may be given. `leftEmpty`: what came empty, and so is left out. */
export function nothingToChange(way: string, leftEmpty: readonly string[] = []): AppError {
  if (leftEmpty.length === 0) return new AppError("invalid", `Nothing to change. ${way}`);
  const [are, count] = leftEmpty.length === 1 ? ["is", "counts"] : ["are", "count"];
  return new AppError(
    "invalid",
    `${leftEmpty.join(", ")}: ${are} empty, which ${count} as left out, so nothing is to change. ${way}`,
  );
}

/**
 * Of what came empty and, left out, would let a call act on more than was meant. Null: nothing did. `fields`: what
 * narrows the call.
 */
export function describeWidened(
  fields: readonly string[],
  leftEmpty: readonly string[] = [],
): { readonly field: string; readonly what: string } | null {
  const empty = fields.filter((field) => leftEmpty.includes(field));
  if (empty.length === 0) return null;
  const [are, count] = empty.length === 1 ? ["is", "counts"] : ["are", "count"];
  return { field: empty.join(", "), what: `${are} empty, which ${count} as left out` };
}

/** Longest sentence that anybody is answered, in UTF-16 units: agents pay for every word of it. */
export const MAX_SENTENCE_CHARS = 2_000;

/** Room for "… and 4294967295 more characters". */
const MORE_CHARS = 40;

/** What is too long, or has half characters, becomes one sentence with the steps of all. */
function boundedSentences(sentences: readonly Sentence[]): readonly Sentence[] {
  const [first] = sentences;
  const whole = String(new Message(sentences));
  const bounded = boundedSentence(whole);
  if (first === undefined || bounded === whole) return sentences;
  const what = first.field === null ? bounded : bounded.slice(first.field.length + 2);
  return [{ field: first.field, what, next: sentences.flatMap(({ next }) => next) }];
}

/** The sentence, or its beginning and how much is left out. No half character is left of a quotation. */
function boundedSentence(sentence: string): string {
  const shown =
    sentence.length <= MAX_SENTENCE_CHARS ? sentence : sentence.slice(0, MAX_SENTENCE_CHARS - MORE_CHARS);
  const whole = shown.replaceAll(/\p{Cs}/gu, "\uFFFD");
  return shown === sentence ? whole : `${whole}… and ${sentence.length - shown.length} more characters`;
}

/** The system's or a library's name for what went wrong (`ENOENT`); "" for an error that has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether it is an error of the system with one of these codes (`ENOSPC`, …). */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(codeOf(error));
}

/** The sentence for a bug of ours: the details are in the log, under the request's id. */
export const INTERNAL_ERROR_SENTENCE =
  "Something went wrong on our side. Nothing was lost. Try again. If it happens again, look in the server's log.";

/** What a caller may see of anything that was thrown. */
export function saidOf(error: unknown): Message {
  return error instanceof AppError ? error.said : new Message(sentencesIn(INTERNAL_ERROR_SENTENCE));
}
