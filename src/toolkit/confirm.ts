import { hash } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import { say } from "../domain/sentences.ts";
import { issueConfirmation, type QuestionDigest, spendConfirmation } from "../access/confirmations.ts";
import { canonicalJson } from "../access/idempotency.ts";
import type { CallContext } from "../context.ts";
import type { AnyTool } from "./define-tool.ts";
import { canBeDraft } from "./refusals.ts";

/** What a person is asked before a call that counts is done. */
export interface Question {
  readonly text: string;
  /** Stands for this question where the answer comes with a call of its own. Agents never see it. */
  readonly token: string;
}

/** The answer to a question. `closed`: neither yes nor no, in time. `failed`: the client did not ask. */
export type Consent = "yes" | "no" | "closed" | "failed";

export interface ConfirmOptions {
  /** Asks a person. Without it a call is done at once, or with `POSTHORN_CONFIRM=always` refused. */
  readonly ask?: (question: Question) => Promise<Consent>;
  /** What a person said to this call's question, where that comes with a call of its own and is no yes. */
  readonly said?: Exclude<Consent, "yes">;
  /** The token of a question with the answer yes. */
  readonly confirmToken?: string;
  /** For a program on a resource endpoint, which no person sits in front of. */
  readonly isConfirmed?: boolean;
  /** The call comes from a model. Default: from a program or a person. */
  readonly isByModel?: boolean;
}

const REFUSED: Readonly<Record<Exclude<Consent, "yes">, string>> = {
  no: "The person declined, so nothing was done.",
  closed: "The person closed the question without an answer, so nothing was done.",
  failed: "The client could not put the question to the person, so nothing was done.",
};

/** Returns when the call may be done. Throws `conflict` without a yes, `invalid` for a wrong token. */
export async function requireConfirmation(
  tool: AnyTool,
  input: Record<string, unknown>,
  options: ConfirmOptions & { readonly call: CallContext },
): Promise<void> {
  const { call, ask, said, confirmToken, isConfirmed = false, isByModel = false } = options;
  const { ctx, caller } = call;
  const policy = ctx.settings.confirm;
  if (tool.question === undefined || isConfirmed || policy === "never") return;
  if (said !== undefined) throw refusal(tool, said);
  const confirmed = { tool: tool.name, args: input };
  if (confirmToken !== undefined)
    return assertUnchanged(tool, input, call, await spendConfirmation(ctx, caller, confirmed, confirmToken));
  const isForPerson = isByModel && tool.isForPeople?.(input) === true;
  if (ask === undefined && policy !== "always" && !isForPerson) return;
  const question = await questionAt(tool, input, call, ctx.clock.now());
  if (question === null) return;
  const { text, shown } = question;
  if (ask === undefined && isForPerson) {
    await tool.describePerson?.(input, call);
    throw forPeople(tool);
  }
  if (ask === undefined) throw unasked(tool, text);
  const token = issueConfirmation(ctx, caller, confirmed, shown);
  const consent = await ask({ text, token });
  if (consent !== "yes") throw refusal(tool, consent);
  await assertUnchanged(tool, input, call, shown);
}

/** The question as it was, or would have been, at a moment: "now" and "in an hour" mean the same in it later. */
async function questionAt(
  tool: AnyTool,
  input: Record<string, unknown>,
  call: CallContext,
  at: number,
): Promise<{ readonly text: string; readonly shown: QuestionDigest } | null> {
  const { clock } = call.ctx;
  const fixed: typeof clock = {
    now: () => at,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, work) => clock.after(ms, work),
  };
  const about: unknown[] = [];
  const noteShown = (what: unknown): void => void about.push(what);
  const asking = { ...call, idempotency: null, noteShown, ctx: { ...call.ctx, clock: fixed } };
  const text = (await tool.question?.(input, asking)) ?? null;
  if (text === null) return null;
  return { text, shown: { at, mark: hash("sha256", canonicalJson([text, about])) } };
}

/** A person agreed to what they were shown. Throws `conflict` where something else would be done by now. */
async function assertUnchanged(
  tool: AnyTool,
  input: Record<string, unknown>,
  call: CallContext,
  shown: QuestionDigest,
): Promise<void> {
  const question = await questionAt(tool, input, call, shown.at);
  if (question?.shown.mark === shown.mark) return;
  throw new AppError(
    "conflict",
    "What would be done changed while the question was open, so nothing was done. Call it again to ask about it as it is now.",
  );
}

/** Who was asked decides: a way around them is told only where the client did not ask. */
function refusal({ name }: AnyTool, consent: Exclude<Consent, "yes">): AppError {
  const wasAsked = consent !== "failed";
  const step = { do: "ask_person", tool: name, wasAsked, orDraft: canBeDraft(name) } as const;
  return new AppError("conflict", say(REFUSED[consent], { next: [step] }));
}

/** No token here: a model that gets it could give the answer itself. */
function forPeople({ title }: AnyTool): AppError {
  return new AppError(
    "conflict",
    say(`Not done: to ${title.toLowerCase()} is for a person, and this client cannot ask one.`, {
      next: [{ do: "decide_as_person", tool: null }],
    }),
  );
}

/** No token: a program that gets it could give the answer itself. */
function unasked({ name }: AnyTool, text: string): AppError {
  return new AppError(
    "conflict",
    say(
      `Not done: with POSTHORN_CONFIRM=always a person is asked first, and this client cannot ask one. The question is: ${text}`,
      { next: [{ do: "decide_as_person", tool: name }] },
    ),
  );
}
