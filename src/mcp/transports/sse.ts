import type { Request, RequestHandler, Response } from "express";
import type { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import type { Server, Transport } from "@modelcontextprotocol/server";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import {
  answerError,
  answerMethodNotAllowed,
  callerOf,
  isSameKey,
  isSameReach,
  readMessage,
  REFUSED,
  SESSION_NOT_FOUND,
  type TransportState,
} from "./http-message.ts";
import type { McpDeps } from "../kinds.ts";
import { KEEP_ALIVE_MS } from "../limits.ts";
import { createMcpServer } from "../server.ts";

const MESSAGES_PATH = "/messages";

const MAX_STREAMS_PER_KEY = 100;

/** What may wait to be read on a stream beside one answer. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

interface Stream {
  readonly caller: Caller;
  readonly server: Server;
  readonly transport: SSEServerTransport;
}

interface LegacySse extends AsyncDisposable {
  readonly sse: RequestHandler;
  readonly messages: RequestHandler;
}

/** The transport of revision 2024-11-05: answers come on a stream, messages are posted beside it. */
export function createLegacySse(deps: McpDeps, { openCalls, keys }: TransportState): LegacySse {
  const streams = new Map<string, Stream>();
  return {
    async sse(request, response) {
      if (request.method !== "GET") return answerMethodNotAllowed(response, "GET");
      const caller = callerOf(response);
      requireRoom(streams, caller);
      // Loaded for the few who need it. Its transport fits the newer server, but not its types.
      const { SSEServerTransport: SdkTransport } = await import("@modelcontextprotocol/sdk/server/sse.js");
      const transport = new SdkTransport(MESSAGES_PATH, response);
      const server = createMcpServer(deps, caller, { era: "legacy", openCalls });
      streams.set(transport.sessionId, { caller, server, transport });
      endWhenUnread(transport, response);
      const unwatch = keys.watch(caller, () => void server.close());
      server.onclose = () => {
        unwatch();
        streams.delete(transport.sessionId);
      };
      await server.connect(transport as Transport);
      keepAlive(deps, response);
    },
    async messages(request, response) {
      if (request.method !== "POST") return answerMethodNotAllowed(response, "POST");
      const stream = streams.get(sessionIdOf(request));
      if (stream === undefined || !isSameReach(stream.caller, callerOf(response))) {
        const reason = "sessionId: there is no such stream of this key. Open one with GET /sse.";
        return answerError(response, 404, SESSION_NOT_FOUND, reason);
      }
      const message = await readMessage(request, response);
      if (message !== null) await post(stream.transport, message.value, response);
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...streams.values()].map(({ server }) => server.close()));
    },
  };
}

/** Ends a stream whose client posts on and does not read: its answers would lie in our memory. */
function endWhenUnread(transport: SSEServerTransport, response: Response): void {
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    if (response.writableLength <= MAX_WAITING_BYTES) return send(message);
    response.destroy();
    throw new Error("The client does not read its stream.");
  };
}

function requireRoom(streams: ReadonlyMap<string, Stream>, caller: Caller): void {
  const own = [...streams.values()].filter((stream) => isSameKey(stream.caller, caller));
  if (own.length < MAX_STREAMS_PER_KEY) return;
  throw new AppError(
    "rate_limited",
    `This key has ${MAX_STREAMS_PER_KEY} streams open. Close one, or use /mcp instead of /sse.`,
  );
}

function sessionIdOf(request: Request): string {
  return new URL(request.url, "http://localhost").searchParams.get("sessionId") ?? "";
}

async function post(transport: SSEServerTransport, message: unknown, response: Response): Promise<void> {
  try {
    await transport.handleMessage(message);
  } catch {
    return answerError(response, 400, REFUSED, "The body is not a JSON-RPC 2.0 message.");
  }
  response.status(202).type("text/plain").send("Accepted");
}

/** A comment now and then, so that the stream survives proxies and a client that vanished is noticed. */
function keepAlive({ ctx }: McpDeps, response: Response): void {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  const beat = async (): Promise<void> => {
    for (;;) {
      await ctx.clock.sleep(KEEP_ALIVE_MS, closed.signal);
      response.write(": keepalive\n\n");
    }
  };
  beat().catch(() => {
    // The stream ended.
  });
}
