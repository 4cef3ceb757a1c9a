import { ProtocolError, ProtocolErrorCode, type GetPromptResult, type Prompt, type Server } from "@modelcontextprotocol/server";
import { AppError } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import { quote } from "../domain/time.ts";
import type { McpDeps } from "./deps.ts";
import type { PromptKind } from "./prompt-kind.ts";
import { PROMPTS } from "./prompts.ts";
import { orProtocolError } from "./protocol-error.ts";
import type { Scope } from "./scope.ts";

/** Answers `prompts/*` on a server whose capabilities announce them. */
export function servePrompts(server: Server, { toolbox, ctx, prompts = PROMPTS }: McpDeps, caller: Caller): void {
  server.setRequestHandler("prompts/list", ({ params }) => {
    if (params?.cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list of prompts is one page.");
    return { prompts: prompts.map(toPrompt) };
  });
  server.setRequestHandler("prompts/get", ({ params }, { mcpReq }) => {
    const scope = { toolbox, ctx, caller, signal: mcpReq.signal };
    return orProtocolError(ctx, getPrompt(findPrompt(prompts, params.name), params.arguments ?? {}, scope));
  });
}

/** Throws `InvalidParams` that lists the known ones. */
export function findPrompt(prompts: readonly PromptKind[], name: string): PromptKind {
  const prompt = prompts.find((one) => one.name === name);
  if (prompt !== undefined) return prompt;
  const known = prompts.map((one) => one.name).join(", ");
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${quote(name)}. The prompts are ${known}.`);
}

async function getPrompt(prompt: PromptKind, args: Readonly<Record<string, string>>, scope: Scope): Promise<GetPromptResult> {
  const known = prompt.arguments.map(({ name }) => name);
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new AppError("invalid", `${quote(unknown)} is not an argument of ${prompt.name}. The arguments are ${known.join(", ")}.`);
  }
  const missing = prompt.arguments.find(({ name, required }) => required === true && (args[name] ?? "").trim() === "");
  if (missing !== undefined) throw new AppError("invalid", `${missing.name}: is required. ${missing.description}`);
  return { description: prompt.description, messages: await prompt.messages(args, scope) };
}

function toPrompt({ name, title, description, arguments: args }: PromptKind): Prompt {
  return {
    name,
    title,
    description,
    arguments: args.map((one) => ({ name: one.name, description: one.description, required: one.required ?? false })),
  };
}
