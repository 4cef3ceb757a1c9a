import * as z from "zod";
import { AppError } from "../domain/errors.ts";
import { isAllowed, type Caller, type Permission } from "../domain/permissions.ts";
import { plainCall, type AppContext, type CallContext, type IdempotencyClaim } from "../context.ts";
import { runOnce } from "../access/idempotency.ts";
import { unknownTool } from "./nearest-tool.ts";
import { requireConfirmation, type ConfirmOptions } from "./confirm.ts";
import { type AnyTool, leastPermission, type Link } from "./define-tool.ts";
import { emptyAmong, readArguments } from "../domain/arguments/coerce.ts";
import { isFields } from "../domain/explain-invalid.ts";
import { toJsonSchema, toListedSchema, type JsonSchema } from "./json-schema.ts";
import { leadsIn, describeOutOfReach, withReach } from "./out-of-reach.ts";
import { requireTool } from "./refusals.ts";
import { compactRows } from "./short-rows.ts";
import { type SentencesAt, worded } from "./words.ts";

/** A tool as every face lists it. */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly permission: Permission;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

interface CallOptions extends ConfirmOptions {
  readonly signal?: AbortSignal;
  readonly progress?: CallContext["progress"];
  readonly client?: CallContext["client"];
  /** Default: false. */
  readonly tellsZone?: boolean;
  /** The arguments that a face takes in one place; a refusal names these. Default: those that are listed. */
  readonly fields?: readonly string[];
  /** Rows of lists as a model should read them, see `withShortRows`. */
  readonly hasShortRows?: boolean;
  /** For so long it waits for what it sends at once. Default: not at all. */
  readonly waitMs?: number;
  /** Ends the waiting, not the call. Default: `signal`. */
  readonly waitSignal?: AbortSignal;
  /** From the `Idempotency-Key` header; the argument `idempotencyKey` means the same. */
  readonly idempotencyKey?: string;
  /** The tools that this caller is shown: a refusal names no others. Default: those they may call. */
  readonly offered?: readonly string[];
}

export interface CallResult {
  /** In the words of agents. */
  readonly result: Record<string, unknown>;
  /** By JSON pointer, what stands in the result as data: faces word it by themselves. None of a repeated answer. */
  readonly sentences: SentencesAt;
  /** The result of an earlier call with the same idempotency key. */
  readonly isReplay: boolean;
  /** Set when a person must open an address of the result. */
  readonly link: Link<Record<string, unknown>> | null;
  /** For a model: what the result leads on to and this caller does not have. */
  readonly outOfReach: string | null;
}

/** The one way to a tool: look-up, permission, input, handler, and output where it is checked. */
export interface Toolbox {
  /** As callers elsewhere are offered them, without fields that are only for this machine. */
  readonly tools: readonly AnyTool[];
  /** The tools this caller may call. */
  list(caller: Caller): ToolListing[];
  /** Their names alone, for which no schema is written. */
  names(caller: Caller): string[];
  /** Throws AppError for whatever the caller can mend; anything else is a bug. */
  call(name: string, args: unknown, caller: Caller, options?: CallOptions): Promise<CallResult>;
}

/** What is listed and called, without the tools themselves. */
export type ToolAccess = Pick<Toolbox, "list" | "names" | "call">;

const IdempotencyKey = z.string().min(1).max(255).describe("Same: done once.");

interface ToolboxOptions {
  /**
   * Whether a result that its schema does not describe is a bug that is thrown. TypeScript holds handlers to
   * their schemas; this finds what it cannot see, such as a field too many, and costs a page of 100 posts a
   * quarter of a millisecond. Default: true.
   */
  readonly checksOutput?: boolean;
}

export function createToolbox(
  ctx: AppContext,
  tools: readonly AnyTool[],
  { checksOutput = true }: ToolboxOptions = {},
): Toolbox {
  const localTools = tools.map(withOwnFields);
  const byName = new Map(localTools.map((tool) => [tool.name, tool]));
  const remoteTools = localTools.map(withoutLocalFields);
  const allNames = tools.map(({ name }) => name);
  const listings = new Map<AnyTool, ToolListing>();
  const listingOf = (tool: AnyTool): ToolListing => {
    const listing = listings.get(tool) ?? describeTool(tool, allNames);
    listings.set(tool, listing);
    return listing;
  };

  /** What a refusal names: the fields that this caller is offered. */
  const fieldsOf = (tool: AnyTool, { isLocal }: Caller): string[] =>
    Object.keys(tool.input.shape).filter((field) => isLocal || tool.localFields?.includes(field) !== true);

  const toolsOf = (caller: Caller): AnyTool[] =>
    (caller.isLocal ? localTools : remoteTools).filter((tool) => isAllowed(caller, leastPermission(tool)));
  const list: Toolbox["list"] = (caller) =>
    toolsOf(caller).map((tool) => {
      const permission = isAllowed(caller, tool.permission) ? tool.permission : leastPermission(tool);
      return { ...listingOf(tool), permission };
    });
  const names: Toolbox["names"] = (caller) => toolsOf(caller).map(({ name }) => name);

  const call: Toolbox["call"] = async (name, args, caller, options = {}) => {
    const tool = byName.get(name);
    const offered = options.offered ?? names(caller);
    if (tool === undefined) throw unknownTool(name, offered);
    requireTool(tool, caller, { offered, args });
    const reach = { caller, all: allNames, offered };
    const done = await callOne(tool, args, caller, options).catch((error: unknown) => {
      throw withReach(error, reach);
    });
    const outOfReach = options.isByModel === true ? describeOutOfReach(leadsIn(done.result), reach) : null;
    return { ...done, outOfReach };
  };

  const callOne = async (
    tool: AnyTool,
    args: unknown,
    caller: Caller,
    options: CallOptions,
  ): Promise<Omit<CallResult, "outOfReach">> => {
    const { name } = tool;
    const { idempotencyKey, ...input } = readOrTell(tool, args, options.fields ?? fieldsOf(tool, caller));
    const key = options.idempotencyKey ?? (typeof idempotencyKey === "string" ? idempotencyKey : undefined);
    const leftEmpty = emptyAmong(args).filter((field) => input[field] === undefined);
    let sentences: SentencesAt = {};
    const run = async (claim: IdempotencyClaim | null): Promise<Record<string, unknown>> => {
      const idempotency = claim === null ? null : wordedClaim(claim);
      const context = { ctx, caller, idempotency, leftEmpty };
      const done = worded(await runTool(tool, input, { ...options, context }));
      // The result itself goes on, not zod's copy: what is checked is what is sent in production.
      if (checksOutput) tool.output.parse(done.result);
      ({ sentences } = done);
      return done.result;
    };
    const isOnce = key !== undefined && !tool.hints.readOnly;
    const done = isOnce
      ? await runOnce(ctx, caller, { key: checkKey(key), tool: name, args: input }, run)
      : { result: await run(null), isReplay: false };
    const link = wordedLink(tool.link?.(done.result) ?? null);
    if (options.hasShortRows !== true) return { ...done, sentences, link };
    return { ...done, sentences, result: await compactRows({ ctx, caller }, done.result), link };
  };

  return { tools: remoteTools, list, names, call };
}

type Input = Record<string, unknown>;

/** Where one item cannot be read, the refusal says what became of the others. */
function readOrTell({ input, hints }: AnyTool, args: unknown, known: readonly string[]): Input {
  try {
    return readArguments(input, args, known);
  } catch (error) {
    const isOfMany =
      !hints.readOnly &&
      isFields(args) &&
      MANY.some((field) => Array.isArray(args[field]) && args[field].length > 1);
    if (!isOfMany || !(error instanceof AppError) || !OF_ITEM.test(error.message)) throw error;
    throw new AppError(error.kind, [error.said, "Nothing of this call was done."], { cause: error });
  }
}

/** What holds items of a call that each stand for themselves. */
const MANY = ["posts", "ids", "drafts"];
const OF_ITEM = /^\w+\[\d+\]/;
type RunContext = Pick<CallContext, "ctx" | "caller" | "idempotency" | "leftEmpty">;

type RunOptions = CallOptions & { readonly context: RunContext };

function wordedLink(link: Link<Input> | null): Link<Input> | null {
  return link === null ? null : { ...link, rest: worded(link.rest).result };
}

/** An answer is kept in the words that it was given in. */
function wordedClaim({ keyHash, complete }: IdempotencyClaim): IdempotencyClaim {
  return {
    keyHash,
    complete: (tx, result) => complete(tx, isFields(result) ? worded(result).result : result),
  };
}

async function runTool(tool: AnyTool, input: Input, { context, ...options }: RunOptions): Promise<Input> {
  // A question has rounds of its own.
  const client =
    tool.question === undefined && options.client !== undefined ? { client: options.client } : {};
  const { ctx, caller, ...given } = context;
  const plain = plainCall(ctx, caller, options.signal);
  const call = {
    ...plain,
    ...given,
    progress: options.progress ?? plain.progress,
    ...client,
    tellsZone: options.tellsZone === true,
  };
  await requireConfirmation(tool, input, { ...options, call });
  const handled = await tool.handle(input, call);
  if (options.waitMs === undefined || tool.untilOut === undefined) return handled;
  return tool.untilOut(handled, call, { ms: options.waitMs, signal: options.waitSignal ?? call.signal });
}

/** Every tool that writes takes an idempotency key. */
function withOwnFields(tool: AnyTool): AnyTool {
  if (tool.hints.readOnly) return tool;
  return { ...tool, input: tool.input.extend({ idempotencyKey: IdempotencyKey.optional() }) };
}

function withoutLocalFields(tool: AnyTool): AnyTool {
  if (tool.localFields === undefined) return tool;
  return {
    ...tool,
    input: tool.input.omit(Object.fromEntries(tool.localFields.map((field) => [field, true]))),
  };
}

function describeTool(tool: AnyTool, names: readonly string[]): ToolListing {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    permission: tool.permission,
    inputSchema: toJsonSchema(tool.input, "input"),
    outputSchema: toListedSchema(tool.output, { tool: tool.name, tools: names }),
    annotations: {
      readOnlyHint: tool.hints.readOnly,
      destructiveHint: tool.hints.destructive,
      idempotentHint: tool.hints.idempotent,
      openWorldHint: tool.hints.openWorld,
    },
  };
}

function checkKey(key: string): string {
  if (key.length > 0 && key.length <= 255) return key;
  throw new AppError("invalid", "Idempotency-Key: must be 1 to 255 characters long.");
}
