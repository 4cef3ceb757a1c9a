import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { isInitializeRequest, isJSONRPCNotification, type Server } from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/permissions.ts";
import { HOUR, MINUTE } from "../../domain/time.ts";
import {
  answerError,
  answerMethodNotAllowed,
  isSameKey,
  isSameReach,
  REFUSED,
  SESSION_NOT_FOUND,
  type TransportState,
} from "./http-message.ts";
import type { McpDeps } from "../kinds.ts";
import { KEEP_ALIVE_MS } from "../limits.ts";
import { createMcpServer } from "../server.ts";

/** A session without a request or an open stream for so long ends. Its client starts a new one. */
const MAX_IDLE_MS = HOUR;

const MAX_SESSIONS_PER_KEY = 100;

interface Session {
  readonly caller: Caller;
  readonly server: Server;
  readonly transport: NodeStreamableHTTPServerTransport;
  openResponses: number;
  lastUsedAt: number;
}

/** One request to `/mcp` of a client that speaks a revision with sessions. */
interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller;
  readonly body?: unknown;
}

/** The clients of revisions up to 2025-11-25 on `/mcp`: `initialize` opens a session, bound to its key. */
export class HttpSessions implements AsyncDisposable {
  readonly #deps: McpDeps;
  readonly #shared: TransportState;
  readonly #sessions = new Map<string, Session>();
  readonly #end = new AbortController();
  #isSweeping = false;

  constructor(deps: McpDeps, shared: TransportState) {
    this.#deps = deps;
    this.#shared = shared;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async serve(exchange: Exchange): Promise<void> {
    const { request, response, caller, body } = exchange;
    const id = request.get("Mcp-Session-Id");
    if (id === undefined) return this.#serveWithoutSession(exchange);
    const session = this.#sessions.get(id);
    // Another key's session does not exist for this one.
    if (session === undefined || !isSameReach(session.caller, caller)) {
      const reason = "Session not found. It ended, or was never this key's: send initialize again.";
      return answerError(response, 404, SESSION_NOT_FOUND, reason);
    }
    this.#touch(session, response);
    await session.transport.handleRequest(request, response, body);
    endCancelledStream(session.transport, body);
  }

  async #serveWithoutSession(exchange: Exchange): Promise<void> {
    const { request, response, body } = exchange;
    if (request.method === "POST" && messagesOf(body).some(isInitializeRequest)) return this.#open(exchange);
    // Only sessions have streams of their own.
    if (request.method === "GET") return answerMethodNotAllowed(response, "POST");
    const reason =
      "Mcp-Session-Id: is missing. Send initialize first, then its answer's Mcp-Session-Id with every request.";
    answerError(response, 400, REFUSED, reason);
  }

  async #open({ request, response, caller, body }: Exchange): Promise<void> {
    if (!this.#makeRoom(caller)) {
      const reason = `This key has ${MAX_SESSIONS_PER_KEY} sessions with open streams. End one with DELETE.`;
      return answerError(response, 429, REFUSED, reason);
    }
    const server = createMcpServer(this.#deps, caller, { era: "legacy", openCalls: this.#shared.openCalls });
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      keepAliveMs: KEEP_ALIVE_MS,
      onsessioninitialized: (id) =>
        this.#add(id, { caller, server, transport, openResponses: 0, lastUsedAt: 0 }, response),
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, body);
    // A refused initialize opened nothing.
    if (transport.sessionId === undefined) await server.close();
  }

  #add(id: string, session: Session, response: Response): void {
    this.#sessions.set(id, session);
    const unwatch = this.#shared.keys.watch(session.caller, () => this.#close(session));
    session.server.onclose = () => {
      unwatch();
      this.#sessions.delete(id);
    };
    this.#touch(session, response);
    if (!this.#isSweeping) void this.#sweepAgainAndAgain();
  }

  #touch(session: Session, response: Response): void {
    const { clock } = this.#deps.ctx;
    session.openResponses += 1;
    session.lastUsedAt = clock.monotonic();
    response.once("close", () => {
      session.openResponses -= 1;
      session.lastUsedAt = clock.monotonic();
    });
  }

  /** Ends the session of this key that was idle for longest. False: all are in use. */
  #makeRoom(caller: Caller): boolean {
    const own = [...this.#sessions.values()].filter((session) => isSameKey(session.caller, caller));
    if (own.length < MAX_SESSIONS_PER_KEY) return true;
    const [oldest] = own
      .filter((session) => session.openResponses === 0)
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    if (oldest === undefined) return false;
    this.#close(oldest);
    return true;
  }

  async #sweepAgainAndAgain(): Promise<void> {
    const { clock } = this.#deps.ctx;
    this.#isSweeping = true;
    while (this.#sessions.size > 0 && !this.#end.signal.aborted) {
      await clock.sleep(MINUTE, this.#end.signal).catch(() => {
        // The server ends.
      });
      const staleAt = clock.monotonic() - MAX_IDLE_MS;
      for (const session of this.#sessions.values()) {
        if (session.openResponses === 0 && session.lastUsedAt <= staleAt) this.#close(session);
      }
    }
    this.#isSweeping = false;
  }

  #close(session: Session): void {
    if (session.transport.sessionId !== undefined) this.#sessions.delete(session.transport.sessionId);
    session.server
      .close()
      .catch((error: unknown) => this.#deps.ctx.log.warn({ err: error }, "An MCP session did not close"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.server.close()));
    this.#sessions.clear();
  }
}

/** A cancelled call gets no answer, so that its stream would stay open for as long as its client does. */
function endCancelledStream(transport: NodeStreamableHTTPServerTransport, body: unknown): void {
  if (!isJSONRPCNotification(body) || body.method !== "notifications/cancelled") return;
  const id = body.params?.["requestId"];
  if (typeof id === "string" || typeof id === "number") transport.closeSSEStream(id);
}

function messagesOf(body: unknown): unknown[] {
  return Array.isArray(body) ? body : [body];
}
