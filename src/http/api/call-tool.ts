import { Gate } from "../../domain/gate.ts";
import type { Request, Response } from "express";
import type { CallResult, Toolbox } from "../../toolkit/toolbox.ts";
import { callerOf } from "../access/auth.ts";
import type { JsonObject } from "../json-body.ts";

/**
 * Calls a tool for a request, with its `Idempotency-Key`, and says in a header when the answer is a repeated
 * one.
 */
export async function callTool(
  toolbox: Toolbox,
  at: { request: Request; response: Response },
  call: { tool: string; args: JsonObject; isConfirmed?: boolean },
): Promise<CallResult> {
  const key = at.request.headers["idempotency-key"];
  const done = await toolbox.call(call.tool, call.args, callerOf(at.response), {
    ...(typeof key === "string" ? { idempotencyKey: key } : {}),
    ...(call.isConfirmed === true ? { isConfirmed: true } : {}),
    ...(isReadOnly(toolbox, call.tool) ? { signal: signalOf(at.response) } : {}),
  });
  if (done.isReplay) at.response.set("Idempotent-Replayed", "true");
  return done;
}

/** Pages that one key has unread at a time: each lies in our memory until it is taken. */
const MAX_UNREAD = 8;

export type Unread = Pick<Gate, "pass">;

export function createUnread(): Unread {
  return new Gate(Infinity, { maxPerOwner: MAX_UNREAD });
}

/**
 * Makes an answer out of what is stored here once fewer than eight earlier ones of this key wait to be read.
 * Others are made at once: changes are short, and what asks a platform would hold up the rest.
 */
export async function answerInTurn(
  { toolbox, unread }: { readonly toolbox: Toolbox; readonly unread: Unread },
  { tool, response }: { readonly tool: string; readonly response: Response },
  answer: () => Promise<void>,
): Promise<void> {
  const { readOnly = false, openWorld = false } =
    toolbox.tools.find(({ name }) => name === tool)?.hints ?? {};
  if (!readOnly || openWorld) return answer();
  await unread.pass(async () => {
    if (response.destroyed) return;
    await answer();
    if (!response.closed) await new Promise((resolve) => response.once("close", resolve));
  }, callerOf(response).keyId);
}

function isReadOnly(toolbox: Toolbox, name: string): boolean {
  return toolbox.tools.find((tool) => tool.name === name)?.hints.readOnly === true;
}

/**
 * Ends when the client goes away. What changes something is finished all the same: half of it would be worse.
 */
function signalOf(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new Error("The client has gone."));
  });
  return gone.signal;
}
