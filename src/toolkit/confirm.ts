import { AppError } from "../domain/errors.ts";
import {
  issueConfirmation,
  spendConfirmation,
  voidConfirmations,
  type ConfirmedCall,
} from "../services/access/confirmations.ts";
import type { CallContext } from "../services/context.ts";
import type { AnyTool } from "./define-tool.ts";

/** What a person is asked before a call that counts is done. */
export interface Question {
  /** Plain text. */
  readonly text: string;
  /** Stands for this question where the answer comes with a call of its own. */
  readonly token: string;
}

/**
 * What came of a question: `closed` is neither yes nor no, and `failed` that the client did not put it to
 * them at all.
 */
export type Consent = "yes" | "no" | "closed" | "failed";

export interface ConfirmOptions {
  /**
   * Puts the question to a person. Left out where nobody can be asked; there a call is done at once, or with
   * `POSTHORN_CONFIRM=always` only with a token.
   */
  readonly ask?: (question: Question) => Promise<Consent>;
  /** What a person said to this call's question, where that comes with a call of its own and is no yes. */
  readonly said?: Exclude<Consent, "yes">;
  /** The token of a question that a person has answered with yes; the argument `confirm` means the same. */
  readonly confirmToken?: string;
  /** A program on a resource endpoint knows what it does, and nobody sits in front of it. */
  readonly isConfirmed?: boolean;
}

const DECLINED =
  "The person declined, so nothing was done. Ask them what they want instead; do not send the call again unasked.";

const UNANSWERED: Readonly<Record<"unasked" | "closed" | "failed", string>> = {
  unasked: "Not done yet, a person must confirm it first.",
  closed: "The person closed the question without an answer, so nothing was done.",
  failed: "The client could not put the question to the person, so nothing was done.",
};

/**
 * Returns when the call may be done. Throws `conflict` where a person has said no, and with the question and
 * a token where nobody has said anything: clients without a person in front of them offer to ask, too.
 * `invalid` for a wrong token.
 */
export async function requireConfirmation(
  tool: AnyTool,
  input: Record<string, unknown>,
  { call, ask, said, confirmToken, isConfirmed = false }: ConfirmOptions & { readonly call: CallContext },
): Promise<void> {
  const { ctx, caller } = call;
  const policy = ctx.settings.confirm;
  if (tool.question === undefined || isConfirmed || policy === "never") return;
  const confirmed = { tool: tool.name, args: input };
  if (said === "no") return decline(call, confirmed);
  if (confirmToken !== undefined) return spendConfirmation(ctx, caller, confirmed, confirmToken);
  if (ask === undefined && said === undefined && policy !== "always") return;
  const text = await tool.question(input, { ...call, idempotency: null });
  if (text === null) return;
  const token = issueConfirmation(ctx, caller, confirmed);
  const consent = said ?? (ask === undefined ? "unasked" : await ask({ text, token }));
  if (consent === "yes") return;
  if (consent === "no") return decline(call, confirmed);
  throw new AppError(
    "conflict",
    `${UNANSWERED[consent]} Ask them: ${text} ` +
      `If they agree, call again within 10 minutes with the same arguments and confirm "${token}". If not, leave it. ` +
      "Whether such questions are asked is set by whoever runs Posthorn, with POSTHORN_CONFIRM.",
  );
}

/** A no outlasts the tokens that were given before it. */
async function decline({ ctx, caller }: CallContext, call: ConfirmedCall): Promise<never> {
  await voidConfirmations(ctx, caller, call);
  throw new AppError("conflict", DECLINED);
}
