import type { Readable, Writable } from "node:stream";
import type { McpRequestContext, Server } from "@modelcontextprotocol/server";
import { serveStdio as serveTransport } from "@modelcontextprotocol/server/stdio";
import type { Caller } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import type { McpDeps } from "../deps.ts";
import { GRACE_MS } from "../limits.ts";
import { createMcpServer } from "../server.ts";
import { StdioListens } from "./stdio-listens.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { within } from "../calls/within.ts";

/** A client that reads its pipe has taken everything long before. */
const FLUSH_MS = SECOND;

interface StdioOptions extends McpDeps {
  readonly caller: Caller;
  readonly stdin: Readable;
  /** Carries frames and nothing else. */
  readonly stdout: Writable;
  /** Aborted when the process is asked to end, or its parent has died. */
  readonly stopSignal: AbortSignal;
}

/**
 * Speaks MCP on a pair of streams, in the era that the client opens with, and resolves when it is over: the
 * input ended, nobody reads the output, or the signal was given. Calls in flight are answered first, those
 * that take too long are aborted.
 */
export async function serveStdio({
  caller,
  stdin,
  stdout,
  stopSignal,
  ...deps
}: StdioOptions): Promise<void> {
  const { clock, log } = deps.ctx;
  const transport = new StdioTransport(stdin, stdout);
  const listens = new StdioListens(deps, caller);
  const serve = ({ era }: McpRequestContext): Server => {
    const server = createMcpServer(deps, caller);
    if (era === "modern") listens.server = server;
    return server;
  };
  const connection = serveTransport(serve, {
    transport,
    onerror: (error) => log.debug({ err: error }, "An MCP message could not be handled"),
  });
  listens.follow(transport);
  await untilAborted(AbortSignal.any([transport.inputEnd, transport.broken, stopSignal]));
  transport.stopReading();
  await within(clock, GRACE_MS, transport.answered());
  listens.end();
  await connection.close();
  await within(clock, FLUSH_MS, transport.flushed());
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
