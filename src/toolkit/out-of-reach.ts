import { AppError } from "../domain/errors.ts";
import { type NextStep, say, withSteps } from "../domain/sentences.ts";
import { agentsWords, agentsWordsFor } from "./words.ts";
import type { Caller } from "../domain/permissions.ts";

/** Who reads a sentence that leads on to tools, and which there are. */
interface Reach {
  readonly caller: Caller;
  readonly all: readonly string[];
  readonly offered: readonly string[];
}

/** The tools that a text names and its reader does not have, as a step. Null: none. */
function outOfReach(text: string, { caller, all, offered }: Reach): NextStep | null {
  const words = new Set(text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []);
  const missing = all.filter((name) => words.has(name) && !offered.includes(name));
  if (missing.length === 0) return null;
  const who = caller.isLocal || caller.isProgram === true ? "assistant" : "key";
  return { do: "leave_to_person", who, lacks: missing };
}

/** What else is to be known of a text that leads on to tools which its reader does not have. Null: nothing. */
export function describeOutOfReach(text: string, reach: Reach): string | null {
  const step = outOfReach(text, reach);
  return step === null ? null : agentsWords(say("", { next: [step] }));
}

/** The error with that; others, and what is no refusal, as they are. */
export function withReach(error: unknown, reach: Reach): unknown {
  if (!(error instanceof AppError)) return error;
  const step = outOfReach(agentsWordsFor(error), reach);
  if (step === null) return error;
  const { kind, said, cause } = error;
  return new AppError(kind, withSteps(said, step), cause === undefined ? {} : { cause });
}

/** Where a result leads on: its other texts are a caller's or a platform's. */
const LEADING: readonly string[] = ["warnings", "warning", "error", "reason", "statusReason", "instructions"];

/** All that leads on in a result, in one text. */
export function leadsIn(value: unknown, isLead = false): string {
  if (typeof value === "string") return isLead ? value : "";
  if (Array.isArray(value)) return value.map((one) => leadsIn(one, isLead)).join(" ");
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([name, one]) => leadsIn(one, LEADING.includes(name)))
    .join(" ");
}
