import {
  type ListToolsResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import type { Caller, ToolSet } from "../domain/permissions.ts";
import { MINUTE } from "../domain/time.ts";
import type { Toolbox, ToolListing, ToolAccess } from "../toolkit/toolbox.ts";
import { callTool } from "./calls/call-tool.ts";
import { ClientLog, type OpenCalls } from "./calls/open-calls.ts";
import { serveCompletions, servePrompts } from "./prompts/prompt-handlers.ts";
import type { McpDeps, ToolView } from "./kinds.ts";
import { instructionsFor } from "./instructions.ts";
import { serveResources } from "./resources/resource-handlers.ts";
import { TOOL_VIEWS } from "./resources/app-pages.ts";
import { AppError } from "../domain/errors.ts";

type McpTool = ListToolsResult["tools"][number];

/** The list changes only with a new version or another key. */
const LIST_CACHE = { ttlMs: 5 * MINUTE, cacheScope: "private" } as const;

/** The first revision whose tools have a title of their own; before, it stood among the hints. */
const FIRST_WITH_TITLES = "2025-06-18";

/** A server for one connection, or one stateless request. The SDK's other server rewrites schemas. */
export function createMcpServer(
  deps: McpDeps,
  caller: Caller,
  { era, openCalls }: { readonly era: McpRequestContext["era"]; readonly openCalls?: OpenCalls },
): Server {
  const hasSubscriptions = era === "legacy";
  const { views = TOOL_VIEWS } = deps;
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
      logging: {},
    },
    instructions: instructionsFor(deps.ctx) + (deps.note ?? ""),
    cacheHints: {
      "tools/list": LIST_CACHE,
      "server/discover": LIST_CACHE,
      "prompts/list": LIST_CACHE,
      "resources/templates/list": LIST_CACHE,
    },
  });
  server.onerror = (error) => deps.ctx.log.debug({ err: error }, "An MCP message could not be handled");
  const clientLog = new ClientLog(server);
  server.setRequestHandler("tools/list", ({ params }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list of tools is one page.");
    const isOld = (server.getNegotiatedProtocolVersion() ?? "") < FIRST_WITH_TITLES;
    return { tools: deps.toolbox.list(caller).map((tool) => toMcpTool(tool, { views, isOld })) };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const answer = callTool(
      deps,
      { name: params.name, args: params.arguments ?? {}, caller, server, clientLog },
      context,
    );
    return openCalls?.track(answer) ?? answer;
  });
  serveResources(server, deps, { caller, hasSubscriptions });
  servePrompts(server, deps, caller);
  serveCompletions(server, deps, caller);
  return server;
}

function toMcpTool(
  listing: ToolListing,
  { views, isOld }: { readonly views: readonly ToolView[]; readonly isOld: boolean },
): McpTool {
  const { permission: _permission, annotations, ...tool } = listing;
  const { title, ...hints } = annotations;
  const meta = views.find((view) => view.tool === tool.name)?.meta;
  // The SDK's type wants the root's `type: "object"` spelled out; every tool's root is one.
  return {
    ...tool,
    annotations: isOld ? { title, ...hints } : hints,
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  } as McpTool;
}

/** Only the tools of these sets: a model reads the whole list first. */
export function offerSets(toolbox: Toolbox, sets: readonly ToolSet[]): ToolAccess {
  const setOf = new Map(toolbox.tools.map((tool) => [tool.name, tool.set ?? tool.permission]));
  const isOffered = ({ name, permission }: ToolListing): boolean =>
    sets.includes(setOf.get(name) ?? permission);
  return {
    list: (caller) => toolbox.list(caller).filter(isOffered),
    async call(name, args, caller, options) {
      const tool = toolbox.list(caller).find((one) => one.name === name);
      if (tool !== undefined && !isOffered(tool)) {
        throw new AppError(
          "not_found",
          `The tool ${tool.name} is not offered over MCP: its set "${setOf.get(tool.name)}" is left out. ` +
            `A person can turn it on with POSTHORN_TOOLS=all, or call it over HTTP or with posthorn call.`,
        );
      }
      return toolbox.call(name, args, caller, options);
    },
  };
}
