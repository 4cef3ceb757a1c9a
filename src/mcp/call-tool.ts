import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { AppError, sentenceOf } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import type { McpDeps } from "./deps.ts";
import { createProgress } from "./progress.ts";

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
}

/** Calls a tool; whatever goes wrong becomes a result with the sentence that HTTP would answer, which the model can read. */
export async function callTool({ toolbox, ctx }: McpDeps, call: ToolCall, context: ServerContext): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const progress = createProgress(context, ctx.clock);
  try {
    const { result } = await toolbox.call(call.name, call.args, call.caller, { signal, progress: progress.tell });
    await progress.sent();
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
  } catch (error) {
    // Nobody reads the answer of a call that was taken back.
    if (!signal.aborted) noteFailure(ctx.log, call.name, error);
    return { content: [{ type: "text", text: sentenceOf(error) }], isError: true };
  }
}

function noteFailure(log: McpDeps["ctx"]["log"], tool: string, error: unknown): void {
  if (!(error instanceof AppError)) return log.error({ tool, error: stackOf(error) }, "A tool failed for a reason of ours");
  if (error.cause !== undefined) log.warn({ tool, sentence: error.message, cause: stackOf(error.cause) }, "A tool call was refused");
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
