/** One thing that `posthorn doctor` looked at. */
export interface Finding {
  readonly topic: string;
  readonly verdict: "ok" | "note" | "problem";
  readonly text: string;
}

/** What was looked at, and what came of it; `topic`: the first word of its line. */
type Tell = (topic: string, text: string) => Finding;

export const ok: Tell = (topic, text) => ({ topic, verdict: "ok", text });

/** Nothing is broken, but a person may want to know or to do something. */
export const note: Tell = (topic, text) => ({ topic, verdict: "note", text });

/** Something does not work; the text says what to do. */
export const problem: Tell = (topic, text) => ({ topic, verdict: "problem", text });
