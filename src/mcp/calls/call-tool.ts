import { USUAL_WAIT_MS } from "../../posts/outcomes.ts";
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { ClientSession, InputNeeded } from "./client-session.ts";
import { type ClientLog, createProgress } from "./open-calls.ts";
import type { Block, McpDeps } from "../kinds.ts";
import { agentsWordsFor } from "../../toolkit/words.ts";
import { fitResult, type FittedResult } from "./fit-result.ts";
import { notesOn } from "./notes.ts";
import { Elicitation } from "./elicitation.ts";
import { TOOL_VIEWS } from "../resources/app-pages.ts";
import { sentencesMeta } from "./sentences-meta.ts";

interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly server: Server;
  /** Null: the client's revision has no log. */
  readonly clientLog: ClientLog | null;
}

/** Calls a tool. What goes wrong becomes a result with the sentence that HTTP would answer. */
export async function callTool(
  { toolbox, ctx, views = TOOL_VIEWS }: McpDeps,
  call: ToolCall,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = context.mcpReq;
  const progress = createProgress(context, {
    clock: ctx.clock,
    log: async (text) => call.clientLog?.write(context, text, call.name),
  });
  const from = { server: call.server, caller: call.caller, name: call.name, context };
  try {
    const person = new Elicitation(ctx, from);
    const opened = person.openedLink();
    if (opened !== null) return toAnswer({ result: opened, note: null }, notesOn(opened));
    const options = {
      signal,
      progress: progress.tell,
      client: new ClientSession(ctx, from),
      hasShortRows: true,
      isByModel: true,
      waitMs: USUAL_WAIT_MS,
      ...person.confirmation(),
    };
    const done = await toolbox.call(call.name, call.args, call.caller, options);
    const result = await person.show(done);
    await progress.sent();
    let { sentences } = done;
    const again = async (limit: number): Promise<Record<string, unknown>> => {
      const page = await toolbox.call(call.name, { ...call.args, limit }, call.caller, options);
      ({ sentences } = page);
      return page.result;
    };
    const fitted = await fitResult(result, { isLimited: (call.args["limit"] ?? "") !== "", again });
    const notes = [...notesOn(result), done.outOfReach ?? []].flat();
    const beside = views.find(({ tool }) => tool === call.name)?.content?.(result);
    return { ...toAnswer(fitted, notes, beside), ...sentencesMeta(from, sentences) };
  } catch (error) {
    if (error instanceof InputNeeded) return error.result;
    if (error instanceof ProtocolError) throw error;
    // The answer of a call that was taken back is not read.
    if (!signal.aborted) noteFailure(ctx.log, call.name, error);
    const meta = sentencesMeta(from, error instanceof AppError ? { "": error.sentences } : {});
    // Nothing structured beside it: clients hold that to the schema of a result, of errors too.
    return { content: [textOf(agentsWordsFor(error))], isError: true, ...meta };
  }
}

/** Some hosts give the model the content alone, others the structured content: both tell the same. */
function toAnswer(
  { result, note }: FittedResult,
  more: readonly string[],
  beside: readonly Block[] = [],
): CallToolResult {
  const notes = [note ?? [], more].flat().join(" ");
  // A post's own note, and a report's, keep their name.
  const told = notes === "" ? result : { ...result, ["note" in result ? "resultNote" : "note"]: notes };
  return { content: [textOf(JSON.stringify(told)), ...beside], structuredContent: told };
}

function textOf(text: string) {
  return { type: "text", text } as const;
}

function noteFailure(log: McpDeps["ctx"]["log"], tool: string, error: unknown): void {
  if (!(error instanceof AppError))
    return log.error({ tool, err: error }, "A tool failed for a reason of ours");
  if (error.cause !== undefined)
    log.warn({ tool, sentence: error.message, err: error.cause }, "A tool call was refused");
}
