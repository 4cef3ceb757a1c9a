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
