import {
  type ListToolsResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import { isAllowed, type Caller, type Permission } from "../domain/permissions.ts";
import { isFields } from "../domain/explain-invalid.ts";
import type { JsonSchema } from "../toolkit/json-schema.ts";
import type { Toolbox, ToolListing, ToolAccess } from "../toolkit/toolbox.ts";
import { callTool } from "./calls/call-tool.ts";
import { programOf } from "./calls/client-session.ts";
import { ClientLog, type OpenCalls } from "./calls/open-calls.ts";
import { serveCompletions, servePrompts } from "./prompts/prompt-handlers.ts";
import type { McpDeps, ToolView } from "./kinds.ts";
import { instructionsFor } from "./instructions.ts";
import { LIST_CACHE_MS } from "./limits.ts";
import { serveResources } from "./resources/resource-handlers.ts";
import { serveSkills } from "./resources/skills.ts";
import { TOOL_VIEWS } from "./resources/app-pages.ts";
import { AppError } from "../domain/errors.ts";

type McpTool = ListToolsResult["tools"][number];

const LIST_CACHE = { ttlMs: LIST_CACHE_MS, cacheScope: "private" } as const;

/** A server for one connection, or one stateless request. The SDK's other server rewrites schemas. */
export function createMcpServer(
  deps: McpDeps,
  caller: Caller,
  { era, openCalls }: { readonly era: McpRequestContext["era"]; readonly openCalls?: OpenCalls },
): Server {
  const hasSubscriptions = era === "legacy";
  const { views = TOOL_VIEWS } = deps;
  const names = deps.toolbox.names(caller);
  const identity = {
    name: "posthorn",
    title: "Posthorn",
    version: deps.version,
    ...(deps.websiteUrl === undefined ? {} : { websiteUrl: deps.websiteUrl }),
  };
  const server = new Server(identity, {
    capabilities: {
      tools: {},
      resources: hasSubscriptions ? { subscribe: true } : {},
      prompts: {},
      completions: {},
      // Deprecated since the newest revision.
      ...(era === "legacy" ? { logging: {} } : {}),
      extensions: {
        ...(views.some(({ tool }) => names.includes(tool)) ? { "io.modelcontextprotocol/ui": {} } : {}),
        "io.modelcontextprotocol/skills": {},
      },
    },
    instructions: instructionsFor(deps.ctx, names) + (deps.note ?? ""),
    cacheHints: {
      "tools/list": LIST_CACHE,
      "server/discover": LIST_CACHE,
      "prompts/list": LIST_CACHE,
      "resources/templates/list": LIST_CACHE,
    },
  });
  server.onerror = (error) => deps.ctx.log.debug({ err: error }, "An MCP message could not be handled");
  const clientLog = era === "legacy" ? new ClientLog(server) : null;
  server.setRequestHandler("tools/list", ({ params }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list of tools is one page.");
    return { tools: deps.toolbox.list(caller).map((tool) => toMcpTool(tool, views)) };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const answer = callTool(
      deps,
      {
        name: params.name,
        args: params.arguments ?? {},
        caller: signed(caller, programOf(server, context)),
        server,
        clientLog,
      },
      context,
    );
    return openCalls?.track(answer) ?? answer;
  });
  serveSkills(server);
  serveResources(server, deps, { caller, hasSubscriptions });
  servePrompts(server, deps, caller);
  serveCompletions(server, deps, caller);
  return server;
}

/** Who comes with a key is known by its name. At this machine only the program tells one agent from another. */
function signed(caller: Caller, program: string | null): Caller {
  return caller.isLocal && program !== null ? { ...caller, program } : caller;
}

function toMcpTool(listing: ToolListing, views: readonly ToolView[]): McpTool {
  const { permission: _permission, annotations, outputSchema, ...tool } = listing;
  const meta = views.find((view) => view.tool === tool.name)?.meta;
  // The SDK's type wants the root's `type: "object"` spelled out; every tool's root is one.
  return {
    ...tool,
    outputSchema: withNote(outputSchema),
    annotations,
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  } as McpTool;
}

/** Pages, which often have a note of what is left out (`callTool`). */
const NOTED = "nextCursor";

function withNote(schema: JsonSchema): JsonSchema {
  const properties = isFields(schema["properties"]) ? schema["properties"] : {};
  if (!(NOTED in properties)) return schema;
  const note = { type: "string", description: "How to read it." };
  return { ...schema, properties: { ...properties, note } };
}

/** Only the tools of these sets: a model reads the whole list first. */
export function offerSets(toolbox: Toolbox, sets: readonly Permission[]): ToolAccess {
  const others = toolbox.tools.filter(({ permission }) => !sets.includes(permission));
  const leftOut = new Map(others.map(({ name, permission }) => [name, permission]));
  const names: ToolAccess["names"] = (caller) => toolbox.names(caller).filter((name) => !leftOut.has(name));
  return {
    names,
    list: (caller) => toolbox.list(caller).filter(({ name }) => !leftOut.has(name)),
    async call(name, args, caller, options) {
      const set = leftOut.get(name);
      if (set === undefined || !isAllowed(caller, set))
        return toolbox.call(name, args, caller, { ...options, offered: names(caller) });
      throw new AppError(
        "not_found",
        `The tool ${name} is not offered over MCP: its set "${set}" is left out. ` +
          `A person can turn it on with POSTHORN_TOOLS=all, or call it over HTTP or with posthorn call.`,
      );
    },
  };
}
