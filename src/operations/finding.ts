import { AppError, sentenceOf, codeOf } from "../domain/errors.ts";
import type { Finding } from "./reports.ts";
import { reasonOf } from "../store/backup/durable.ts";
import { explained } from "../store/open-store.ts";

/** What was looked at, and what came of it; `topic`: the first word of its line. */
type Tell = (topic: string, text: string) => Finding;

export const ok: Tell = (topic, text) => ({ topic, verdict: "ok", text });

/** Nothing is broken, but a person may want to know or to do something. */
export const note: Tell = (topic, text) => ({ topic, verdict: "note", text });

/** Something does not work; the text says what to do. */
export const problem: Tell = (topic, text) => ({ topic, verdict: "problem", text });

/** What an attempt that failed is told as. */
export function problemOf(topic: string, error: unknown): Finding {
  return problem(topic, sentenceOf(error instanceof AppError ? error : explainFailure(error)));
}

/**
 * The sentence for trouble of the machine that nobody foresaw where it came up: a disk, a database, a file in
 * a folder's place. Null for a bug of ours.
 */
export function explainFailure(error: unknown): AppError | null {
  const known = explained(error);
  if (known instanceof AppError) return known;
  if (!(error instanceof Error)) return null;
  // Out of a thread an error comes as a copy, without its class.
  if (error.name === "AppError") return new AppError("unavailable", error.message, { cause: error });
  if (!("syscall" in error) || !("path" in error) || typeof error.path !== "string" || codeOf(error) === "")
    return null;
  return new AppError(
    "unavailable",
    `${error.path} cannot be used: ${reasonOf(error)}. Mend that, then try again. "posthorn doctor" looks at the whole folder.`,
    { cause: error },
  );
}
