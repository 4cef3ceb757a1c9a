import {
  type CompleteResult,
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import type { CallingClient } from "../../context.ts";
import { ClientSession, InputNeeded } from "../calls/client-session.ts";
import {
  type McpDeps,
  type PromptArgument,
  type PromptKind,
  type ResourceKind,
  type Scope,
  type Suggestion,
  variableOf,
} from "../kinds.ts";
import { PROMPTS } from "./prompts.ts";
import { orProtocolError } from "../look-up.ts";
import { RESOURCES } from "../resources/resources.ts";

export function servePrompts(
  server: Server,
  { toolbox, ctx, prompts = PROMPTS }: McpDeps,
  caller: Caller,
): void {
  const names = toolbox.names(caller);
  const offered = prompts.filter(({ tool }) => tool === undefined || names.includes(tool));
  server.setRequestHandler("prompts/list", ({ params }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list of prompts is one page.");
    return { prompts: offered.map(toPrompt) };
  });
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    const prompt = findPrompt(offered, params.name);
    const client = new ClientSession(ctx, { server, context, caller, name: prompt.name });
    const scope = { toolbox, ctx, caller, signal: context.mcpReq.signal };
    return orProtocolError(ctx, getPrompt(prompt, params.arguments ?? {}, { ...scope, client }));
  });
}

function findPrompt(prompts: readonly PromptKind[], name: string): PromptKind {
  const prompt = prompts.find((one) => one.name === name);
  if (prompt !== undefined) return prompt;
  const known = prompts.map((one) => one.name).join(", ");
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no prompt ${quote(name)}. The prompts are ${known}.`,
  );
}

type Args = Readonly<Record<string, string>>;
type AskingScope = Scope & { readonly client: CallingClient };

async function getPrompt(
  prompt: PromptKind,
  args: Args,
  scope: AskingScope,
): Promise<GetPromptResult | InputRequiredResult> {
  const known = prompt.arguments.map(({ name }) => name);
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new AppError(
      "invalid",
      `${quote(unknown)} is not an argument of ${prompt.name}. The arguments are ${known.join(", ")}.`,
    );
  }
  try {
    return {
      description: prompt.description,
      messages: await prompt.messages(complete(prompt, args, scope.client), scope),
    };
  } catch (error) {
    if (error instanceof InputNeeded) return error.result;
    throw error;
  }
}

/** The person is asked for what they left out, where the client can do that. */
function complete(prompt: PromptKind, args: Args, client: CallingClient): Args {
  const missing = missingIn(prompt, args);
  if (missing.length === 0 || !client.canAnswer("form")) return requireAll(prompt, args);
  const message = `${prompt.title}: what should it be about?`;
  const { form } = client.ask({ form: { kind: "form", message, schema: toForm(missing) } });
  if (form.action !== "accept")
    throw new AppError(
      "conflict",
      `${prompt.name} was not started: the person did not fill in what it needs.`,
    );
  const given = missing
    .map(({ name }) => [name, form.content[name]] as const)
    .filter(([, value]) => typeof value === "string");
  return requireAll(prompt, { ...args, ...(Object.fromEntries(given) as Args) });
}

function requireAll(prompt: PromptKind, args: Args): Args {
  requireWholeTexts(args);
  const [missing] = missingIn(prompt, args);
  if (missing === undefined) return args;
  throw new AppError("invalid", `${missing.name}: is required. ${missing.description}`);
}

function missingIn(prompt: PromptKind, args: Args): PromptArgument[] {
  return prompt.arguments.filter(
    ({ name, required }) => required === true && (args[name] ?? "").trim() === "",
  );
}

function toForm(missing: readonly PromptArgument[]): Readonly<Record<string, unknown>> {
  const fields = missing.map(
    ({ name, description }) => [name, { type: "string", description, minLength: 1 }] as const,
  );
  return {
    type: "object",
    properties: Object.fromEntries(fields),
    required: missing.map(({ name }) => name),
  };
}

function toPrompt({ name, title, description, arguments: args }: PromptKind): Prompt {
  return {
    name,
    title,
    description,
    arguments: args.map((one) => ({
      name: one.name,
      description: one.description,
      required: one.required ?? false,
    })),
  };
}

const MAX_VALUES = 100;

type Complete = (scope: Scope) => Promise<Suggestion[]>;

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

/** A caller that may not see the values is offered none. */
function orNothing(error: unknown): Suggestion[] {
  if (error instanceof AppError && (error.kind === "forbidden" || error.kind === "not_found")) return [];
  throw error;
}

function isFitting({ value, name }: Suggestion, typed: string): boolean {
  return value.toLowerCase().startsWith(typed) || (name?.toLowerCase().includes(typed) ?? false);
}
