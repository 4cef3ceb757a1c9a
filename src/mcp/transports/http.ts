import type { Request, RequestHandler, Response } from "express";
import { toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/permissions.ts";
import { callerOf } from "./http-message.ts";
import type { McpDeps } from "../deps.ts";
import { answerMethodNotAllowed, countBatch, readMessage } from "./http-message.ts";
import { HttpSessions } from "./http-sessions.ts";
import { KEEP_ALIVE_MS } from "../limits.ts";
import type { Shared } from "./http-message.ts";
import { createMcpServer } from "../server.ts";

interface StreamableHttp extends AsyncDisposable {
  /** For all methods of `/mcp`; the key, Host and Origin have been checked, and nobody has read the body. */
  readonly handler: RequestHandler;
  /** Sessions that are open now. */
  readonly sessionCount: () => number;
}

/**
 * Streamable HTTP in both eras: requests of 2026-07-28 are served one by one, `initialize` opens a session.
 */
export function createStreamableHttp(deps: McpDeps, shared: Shared): StreamableHttp {
  const sessions = new HttpSessions(deps, shared);
  const modern = createModernLeg(deps, shared);
  const handler: RequestHandler = async (request, response) => {
    if (!["GET", "POST", "DELETE"].includes(request.method))
      return answerMethodNotAllowed(response, "GET, POST, DELETE");
    const caller = callerOf(response);
    if (request.method !== "POST") return sessions.serve({ request, response, caller });
    const message = await readMessage(request, response, deps.ctx.clock);
    if (message === null) return;
    const body = message.value;
    await countBatch(response, body);
    const probe = await toWebRequest(request, body);
    if (await isLegacyRequest(probe, body)) return sessions.serve({ request, response, caller, body });
    await modern.serve(request, response, { caller, body });
  };
  return {
    handler,
    sessionCount: () => sessions.size,
    async [Symbol.asyncDispose]() {
      await Promise.all([modern.close(), sessions[Symbol.asyncDispose]()]);
    },
  };
}

interface ModernLeg {
  serve(
    request: Request,
    response: Response,
    call: { readonly caller: Caller; readonly body: unknown },
  ): Promise<void>;
  close(): Promise<void>;
}

function createModernLeg(deps: McpDeps, { openCalls, keys }: Shared): ModernLeg {
  const { log } = deps.ctx;
  // The SDK hands the factory the request it is for, and nothing else of ours.
  const callers = new WeakMap<globalThis.Request, Caller>();
  const sdk: McpHttpHandler = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo === undefined ? undefined : callers.get(requestInfo);
      if (caller === undefined) throw new Error("An MCP request has no caller.");
      return createMcpServer(deps, caller, { era: "modern", openCalls });
    },
    {
      legacy: "reject",
      keepAliveMs: KEEP_ALIVE_MS,
      onerror: (error) => log.debug({ err: error }, "An MCP request was refused"),
    },
  );
  return {
    close: () => sdk.close(),
    async serve(request, response, { caller, body }) {
      const serveOne = toNodeHandler(
        {
          fetch(webRequest, options) {
            callers.set(webRequest, caller);
            return sdk.fetch(webRequest, options);
          },
        },
        { onerror: (error) => log.error({ err: error }, "An MCP request failed for a reason of ours") },
      );
      const unwatch = keys.watch(caller, () => response.destroy());
      response.once("close", unwatch);
      await serveOne(request, response, body);
    },
  };
}
