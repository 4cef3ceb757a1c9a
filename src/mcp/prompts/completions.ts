import {
  ProtocolError,
  ProtocolErrorCode,
  type CompleteResult,
  type Server,
} from "@modelcontextprotocol/server";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { quote } from "../../domain/time.ts";
import type { McpDeps } from "../deps.ts";
import { findPrompt } from "./prompt-handlers.ts";
import { PROMPTS } from "./prompts.ts";
import { orProtocolError } from "../protocol-error.ts";
import { variableOf, type ResourceKind } from "../kinds.ts";
import { RESOURCES } from "../resources/resources.ts";
import type { Scope, Suggestion } from "../kinds.ts";

/** The protocol's limit. */
const MAX_VALUES = 100;

type Complete = (scope: Scope) => Promise<Suggestion[]>;

/** Answers `completion/complete` with what the caller may see, on a server whose capabilities announce it. */
export function serveCompletions(
  server: Server,
  { toolbox, ctx, prompts = PROMPTS, resources = RESOURCES }: McpDeps,
  caller: Caller,
): void {
  server.setRequestHandler("completion/complete", ({ params: { ref, argument } }, { mcpReq }) => {
    const complete =
      ref.type === "ref/prompt"
        ? findArgument(findPrompt(prompts, ref.name).arguments, argument.name)
        : findVariable(resources, ref.uri, argument.name);
    return orProtocolError(
      ctx,
      suggest(complete, { toolbox, ctx, caller, signal: mcpReq.signal }, argument.value),
    );
  });
}

interface Argument {
  readonly name: string;
  readonly complete?: Complete;
}

function findArgument(args: readonly Argument[], name: string): Complete | undefined {
  const argument = args.find((one) => one.name === name);
  if (argument !== undefined) return argument.complete;
  throw unknownArgument(
    name,
    args.map((one) => one.name),
  );
}

function findVariable(kinds: readonly ResourceKind[], uri: string, name: string): Complete | undefined {
  const kind = kinds.find((one) => one.uri === uri);
  if (kind === undefined) {
    const known = kinds.filter((one) => variableOf(one) !== null).map((one) => one.uri);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no template ${quote(uri)}. The templates are ${known.join(", ")}.`,
    );
  }
  const variable = variableOf(kind);
  if (variable !== name) throw unknownArgument(name, variable === null ? [] : [variable]);
  return kind.complete;
}

function unknownArgument(name: string, known: readonly string[]): ProtocolError {
  const hint = known.length === 0 ? "There are none." : `Known are ${known.join(", ")}.`;
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `${quote(name)} is not an argument that can be completed. ${hint}`,
  );
}

async function suggest(complete: Complete | undefined, scope: Scope, typed: string): Promise<CompleteResult> {
  const all = (await complete?.(scope).catch(orNothing)) ?? [];
  const values = [
    ...new Set(all.filter((one) => isFitting(one, typed.toLowerCase())).map(({ value }) => value)),
  ];
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

/** Whoever may not see the values is offered none. */
function orNothing(error: unknown): Suggestion[] {
  if (error instanceof AppError && (error.kind === "forbidden" || error.kind === "not_found")) return [];
  throw error;
}

/** The beginning of the value, or any part of the name. */
function isFitting({ value, name }: Suggestion, typed: string): boolean {
  return value.toLowerCase().startsWith(typed) || (name?.toLowerCase().includes(typed) ?? false);
}
