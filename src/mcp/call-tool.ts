import type { CallToolResult, InputRequiredResult, Server, ServerContext } from "@modelcontextprotocol/server";
import { AppError, sentenceOf } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import type { McpDeps } from "./deps.ts";
import { fitResult, type Fitted } from "./fit-result.ts";
import { InputNeeded, Person } from "./person.ts";
import { createProgress } from "./progress.ts";

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  /** Whose client may be able to ask a person. */
  readonly server: Server;
}

/**
 * Calls a tool; whatever goes wrong becomes a result with the sentence that HTTP would answer, which the model can read. What
 * counts is put to the person first, where the client can do that.
 */
export async function callTool(
  { toolbox, ctx }: McpDeps,
  call: ToolCall,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = context.mcpReq;
  const progress = createProgress(context, ctx.clock);
  try {
    const person = new Person(ctx, { server: call.server, caller: call.caller, tool: call.name, context });
    const opened = person.openedLink();
    if (opened !== null) return toAnswer({ result: opened, note: null });
    const options = { signal, progress: progress.tell, ...person.confirmation() };
    const done = await toolbox.call(call.name, call.args, call.caller, options);
    const result = await person.show(done);
    await progress.sent();
    const again = async (limit: number): Promise<Record<string, unknown>> =>
      (await toolbox.call(call.name, { ...call.args, limit }, call.caller, options)).result;
    return toAnswer(await fitResult(result, { isLimited: call.args["limit"] !== undefined, again }));
  } catch (error) {
    if (error instanceof InputNeeded) return error.result;
    // Nobody reads the answer of a call that was taken back.
    if (!signal.aborted) noteFailure(ctx.log, call.name, error);
    return { content: [{ type: "text", text: sentenceOf(error) }], isError: true };
  }
}

function toAnswer({ result, note }: Fitted): CallToolResult {
  const notes = note === null ? [] : [{ type: "text" as const, text: note }];
  return { content: [{ type: "text", text: JSON.stringify(result) }, ...notes], structuredContent: result };
}

function noteFailure(log: McpDeps["ctx"]["log"], tool: string, error: unknown): void {
  if (!(error instanceof AppError)) return log.error({ tool, error: stackOf(error) }, "A tool failed for a reason of ours");
  if (error.cause !== undefined) log.warn({ tool, sentence: error.message, cause: stackOf(error.cause) }, "A tool call was refused");
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
