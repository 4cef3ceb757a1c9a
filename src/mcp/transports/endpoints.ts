import type { RequestHandler } from "express";
import type { McpDeps } from "../deps.ts";
import { answerError, REFUSED } from "./http-message.ts";
import { createStreamableHttp } from "./http.ts";
import { KeyWatch } from "./key-watch.ts";
import { GRACE_MS } from "../limits.ts";
import { OpenCalls, within } from "../calls/open-calls.ts";
import { createLegacySse } from "./sse.ts";

/** The handlers of MCP over HTTP, to be mounted behind the checks of key, Host and Origin. */
export interface McpEndpoints {
  readonly streamable: RequestHandler;
  readonly sse: RequestHandler;
  readonly messages: RequestHandler;
  readonly sessionCount: () => number;
  /**
   * Lets the calls under way be answered, then ends all sessions and streams: they would hold the HTTP server
   * open.
   */
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
