import type { Finding } from "../cli/host.ts";
import { AppError, sentenceOf } from "../domain/errors.ts";
import { explainFailure } from "./explain-failure.ts";

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
