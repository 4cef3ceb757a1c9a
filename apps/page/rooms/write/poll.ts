import { isJson, type Json, textOf } from "../../../shared/json.ts";

/** A poll while it is written: answers may be empty. */
export interface PollForm {
  readonly options: readonly string[];
  readonly hours: number;
  readonly multiple?: boolean;
}

export const NEW_POLL: PollForm = { options: ["", ""], hours: 24 };

export function readPoll(value: unknown): PollForm {
  if (!isJson(value)) return NEW_POLL;
  const options = Array.isArray(value["options"]) ? value["options"].map(textOf) : [];
  const hours = typeof value["hours"] === "number" ? value["hours"] : NEW_POLL.hours;
  return { options, hours, ...(value["multiple"] === true && { multiple: true }) };
}

function answersOf(value: unknown): readonly string[] {
  return readPoll(value).options.filter((option) => option.trim() !== "");
}

/** As it is sent: without empty answers, and not at all where there is none. */
export function withWrittenPoll(metadata: Json): Json {
  const { poll, ...rest } = metadata;
  const options = answersOf(poll);
  return options.length === 0 ? rest : { ...rest, poll: { ...readPoll(poll), options } };
}

/** Why a poll that was begun cannot go out. */
export function pollProblem({ poll }: Json): string | null {
  if (poll === undefined) return null;
  const answers = answersOf(poll);
  if (answers.length < 2) return "The poll needs two answers or more. Write them, or choose “No poll”.";
  const isTwice = new Set(answers).size < answers.length;
  return isTwice ? "Two answers of the poll are the same. Change one of them." : null;
}
