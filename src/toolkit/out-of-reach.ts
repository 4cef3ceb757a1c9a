import { AppError } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";

/** Who reads a sentence that leads on to tools, and which there are. */
interface Reach {
  readonly caller: Caller;
  readonly all: readonly string[];
  readonly offered: readonly string[];
}

/** What else is to be known of a text that names tools which its reader does not have. Null: nothing. */
export function tellOutOfReach(text: string, { caller, all, offered }: Reach): string | null {
  const words = new Set(text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []);
  const missing = all.filter((name) => words.has(name) && !offered.includes(name));
  if (missing.length === 0) return null;
  const who = caller.isLocal || caller.isProgram === true ? "assistant" : "key";
  return `A person does that, on Posthorn's page or the command line: this ${who} does not have ${missing.join(" or ")}.`;
}

/** The error with that; others, and what is no refusal, as they are. */
export function withReach(error: unknown, reach: Reach): unknown {
  if (!(error instanceof AppError)) return error;
  const told = tellOutOfReach(error.message, reach);
  return told === null
    ? error
    : new AppError(
        error.kind,
        `${error.message} ${told}`,
        error.cause === undefined ? {} : { cause: error.cause },
      );
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
