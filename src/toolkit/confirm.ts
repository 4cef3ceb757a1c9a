import { AppError } from "../domain/errors.ts";
import { issueConfirmation, spendConfirmation } from "../services/access/confirmations.ts";
import type { CallContext } from "../services/context.ts";
import type { AnyTool } from "./define-tool.ts";

/** What a person is asked before a call that counts is done. */
export interface Question {
  /** Plain text. */
  readonly text: string;
  /** Stands for this question where the answer comes with a call of its own. */
  readonly token: string;
}

export interface ConfirmOptions {
  /**
   * Puts the question to a person: returns when they agree, throws otherwise. Left out where nobody can be
   * asked; there a call is done at once, or with `POSTHORN_CONFIRM=always` only with a token.
   */
  readonly ask?: (question: Question) => Promise<void>;
  /** The token of a question that a person has answered with yes; the argument `confirm` means the same. */
  readonly confirmToken?: string;
  /** A program on a resource endpoint knows what it does, and nobody sits in front of it. */
  readonly isConfirmed?: boolean;
}

/**
 * Returns when the call may be done. Throws `conflict` with the question where a token is needed, `invalid`
 * for a wrong one.
 */
export async function requireConfirmation(
  tool: AnyTool,
  input: Record<string, unknown>,
  { call, ask, confirmToken, isConfirmed = false }: ConfirmOptions & { readonly call: CallContext },
): Promise<void> {
  const { ctx, caller } = call;
  const policy = ctx.settings.confirm;
  if (
    tool.question === undefined ||
    isConfirmed ||
    policy === "never" ||
    (ask === undefined && policy !== "always")
  )
    return;
  const confirmed = { tool: tool.name, args: input };
  if (confirmToken !== undefined) return spendConfirmation(ctx, caller, confirmed, confirmToken);
  const text = await tool.question(input, { ...call, idempotency: null });
  if (text === null) return;
  const token = issueConfirmation(ctx, caller, confirmed);
  if (ask !== undefined) return ask({ text, token });
  throw new AppError(
    "conflict",
    `Not done yet, a person must confirm it first. Ask them: ${text} ` +
      `If they agree, call again within 10 minutes with the same arguments and confirm "${token}". If not, leave it.`,
  );
}
