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

function invalidParams(sentence: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
}

export function servePrompts(
  server: Server,
  { toolbox, ctx, prompts = PROMPTS }: McpDeps,
  caller: Caller,
): void {
  const names = toolbox.names(caller);
  const offered = prompts.filter(({ tool }) => tool === undefined || names.includes(tool));
  server.setRequestHandler("prompts/list", ({ params }) => {
    if (params?.cursor !== undefined) throw invalidParams("cursor: the list of prompts is one page.");
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
  throw invalidParams(`There is no prompt ${quote(name)}. The prompts are ${known}.`);
}

type Args = Readonly<Record<string, string>>;
type PromptScope = Scope & { readonly client: CallingClient };

async function getPrompt(
  prompt: PromptKind,
  args: Args,
  scope: PromptScope,
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
  if (missing !== undefined)
    throw new AppError("invalid", `${missing.name}: is required. ${missing.description}`);
  for (const { name, check } of prompt.arguments) if (args[name]) check?.(args[name]);
  return args;
}

function missingIn(prompt: PromptKind, args: Args): PromptArgument[] {
  return prompt.arguments.filter(
    ({ name, required }) => required === true && (args[name] ?? "").trim() === "",
  );
}

function toForm(missing: readonly PromptArgument[]): Readonly<Record<string, unknown>> {
  const toField = ({ description }: PromptArgument): object => ({
    type: "string",
    description,
    minLength: 1,
  });
  const properties = Object.fromEntries(missing.map((one) => [one.name, toField(one)]));
  return { type: "object", properties, required: Object.keys(properties) };
}

function toPrompt({ name, title, description, arguments: args }: PromptKind): Prompt {
  return {
    name,
    title,
    description,
    arguments: args.map(({ name, description, required = false }) => ({ name, description, required })),
  };
}

const MAX_VALUES = 100;

type Complete = NonNullable<PromptArgument["complete"]>;

export function serveCompletions(
  server: Server,
  { toolbox, ctx, prompts = PROMPTS, resources = RESOURCES }: McpDeps,
  caller: Caller,
): void {
  server.setRequestHandler("completion/complete", ({ params: { ref, argument } }, { mcpReq }) => {
    const known =
      ref.type === "ref/prompt" ? findPrompt(prompts, ref.name).arguments : variablesIn(resources, ref.uri);
    const complete = findCompletion(known, argument.name);
    const scope = { toolbox, ctx, caller, signal: mcpReq.signal };
    return orProtocolError(ctx, suggest(complete, scope, argument.value));
  });
}

type Completable = Pick<PromptArgument, "name" | "complete">;

function variablesIn(kinds: readonly ResourceKind[], uri: string): readonly Completable[] {
  const kind = kinds.find((one) => one.uri === uri);
  if (kind === undefined) {
    const known = kinds.filter((one) => variableOf(one) !== null).map((one) => one.uri);
    throw invalidParams(`There is no template ${quote(uri)}. The templates are ${known.join(", ")}.`);
  }
  const name = variableOf(kind);
  return name === null ? [] : [{ ...kind, name }];
}

function findCompletion(known: readonly Completable[], name: string): Complete | undefined {
  const found = known.find((one) => one.name === name);
  if (found !== undefined) return found.complete;
  const names = known.map((one) => one.name).join(", ");
  const hint = names === "" ? "There are none." : `Known are ${names}.`;
  throw invalidParams(`${quote(name)} is not an argument that can be completed. ${hint}`);
}

async function suggest(complete: Complete | undefined, scope: Scope, typed: string): Promise<CompleteResult> {
  const all = (await complete?.(scope).catch(orNothing)) ?? [];
  const fitting = all.filter((one) => isFitting(one, typed.toLowerCase()));
  const values = [...new Set(fitting.map(({ value }) => value))];
  const { length: total } = values;
  return { completion: { values: values.slice(0, MAX_VALUES), total, hasMore: total > MAX_VALUES } };
}

/** A caller that may not see the values is offered none. */
function orNothing(error: unknown): Suggestion[] {
  if (error instanceof AppError && (error.kind === "forbidden" || error.kind === "not_found")) return [];
  throw error;
}

function isFitting({ value, name }: Suggestion, typed: string): boolean {
  return value.toLowerCase().startsWith(typed) || (name?.toLowerCase().includes(typed) ?? false);
}
