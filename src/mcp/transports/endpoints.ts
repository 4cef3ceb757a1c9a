import type { Request, RequestHandler, Response } from "express";
import type { McpDeps } from "../kinds.ts";
import {
  answerError,
  answerMethodNotAllowed,
  callerOf,
  countBatch,
  readMessage,
  REFUSED,
  type TransportState,
} from "./http-message.ts";
import { KeyWatch } from "./key-watch.ts";
import { GRACE_MS, KEEP_ALIVE_MS } from "../limits.ts";
import { OpenCalls, within } from "../calls/open-calls.ts";
import { createLegacySse } from "./sse.ts";
import { toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/permissions.ts";
import { HttpSessions } from "./http-sessions.ts";
import { createMcpServer } from "../server.ts";

/** The handlers of MCP over HTTP, to be mounted behind the checks of key, Host and Origin. */
export interface McpEndpoints {
  readonly streamable: RequestHandler;
  readonly sse: RequestHandler;
  readonly messages: RequestHandler;
  readonly sessionCount: () => number;
  /** Lets calls be answered, then ends sessions and streams, which would hold the HTTP server open. */
  close(): Promise<void>;
}

export function createMcpEndpoints(deps: McpDeps): McpEndpoints {
  const openCalls = new OpenCalls();
  const keys = new KeyWatch(deps);
  const streamable = createStreamableHttp(deps, { openCalls, keys });
  const legacy = createLegacySse(deps, { openCalls, keys });
  const ifLegacy = (handler: RequestHandler): RequestHandler =>
    deps.hasLegacySse === false ? notServed : whileOpen(handler);
  let isClosing = false;
  const whileOpen =
    (handler: RequestHandler): RequestHandler =>
    (request, response, next) =>
      isClosing
        ? answerError(response, 503, REFUSED, "The server is stopping. Try again once it has started again.")
        : handler(request, response, next);
  return {
    streamable: whileOpen(streamable.handler),
    sse: ifLegacy(legacy.sse),
    messages: ifLegacy(legacy.messages),
    sessionCount: streamable.sessionCount,
    async close() {
      isClosing = true;
      keys[Symbol.dispose]();
      await within(deps.ctx.clock, GRACE_MS, openCalls.settled());
      // The last answers are written a moment after their calls have settled.
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([streamable[Symbol.asyncDispose](), legacy[Symbol.asyncDispose]()]);
    },
  };
}

const notServed: RequestHandler = (_request, response) =>
  answerError(response, 404, REFUSED, "HTTP+SSE is switched off (POSTHORN_LEGACY_SSE). Use /mcp.");

interface StreamableHttp extends AsyncDisposable {
  /** For all methods of `/mcp`; the key, Host and Origin have been checked, the body is not read. */
  readonly handler: RequestHandler;
  readonly sessionCount: () => number;
}

/** Streamable HTTP in both eras: requests of 2026-07-28 one by one, `initialize` opens a session. */
function createStreamableHttp(deps: McpDeps, shared: TransportState): StreamableHttp {
  const sessions = new HttpSessions(deps, shared);
  const modern = createModernLeg(deps, shared);
  const handler: RequestHandler = async (request, response) => {
    if (!["GET", "POST", "DELETE"].includes(request.method))
      return answerMethodNotAllowed(response, "GET, POST, DELETE");
    const caller = callerOf(response);
    if (request.method !== "POST") return sessions.serve({ request, response, caller });
    const message = await readMessage(request, response);
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

function createModernLeg(deps: McpDeps, { openCalls, keys }: TransportState): ModernLeg {
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
