import { PassThrough, type Readable, type Writable } from "node:stream";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import { serveStdio as serveTransport, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Caller } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import { within } from "../calls/open-calls.ts";
import type { McpDeps } from "../kinds.ts";
import { GRACE_MS } from "../limits.ts";
import { LineLimit } from "./line-limit.ts";
import { createMcpServer } from "../server.ts";

/** A client that reads its pipe has taken everything long before. */
const FLUSH_MS = SECOND;

/** Requests without an answer, beyond which nothing more is read. */
const MAX_OPEN_REQUESTS = 500;

/** Bytes that the client has not read, beyond which nothing more is read from it. */
const MAX_UNREAD_BYTES = 1024 * 1024;

const PARENT_POLL_MS = SECOND;

interface StdioOptions extends McpDeps {
  readonly caller: Caller;
  readonly stdin: Readable;
  /** Carries frames and nothing else. */
  readonly stdout: Writable;
  /** Called when nothing more is read: calls that only wait are to answer. */
  readonly onEnd?: () => void;
  /** Aborted when the process is asked to end, or its parent has died. */
  readonly stopSignal: AbortSignal;
}

/**
 * Speaks MCP on a pair of streams, in the era that the client opens with. Resolves when the input has ended,
 * the output was closed, or the signal was given. Calls in flight are answered first. Those that take too long
 * are aborted.
 *
 * The SDK's transport drops calls in flight at the end of its input, and reads on while the client does not
 * read. So it gets its input through `gate`, which does not pass on the end.
 */
export async function serveStdio({
  caller,
  stdin,
  stdout,
  stopSignal,
  onEnd,
  ...deps
}: StdioOptions): Promise<void> {
  const { clock, log } = deps.ctx;
  const requests = new OpenRequests();
  const hasRoom = (): boolean =>
    requests.size < MAX_OPEN_REQUESTS && stdout.writableLength <= MAX_UNREAD_BYTES;
  const gate = new PassThrough();
  const lines = new LineLimit((line) => stdout.write(line));
  let isReading = true;
  const read = async (chunk: Buffer): Promise<void> => {
    for (const part of lines.pass(chunk)) gate.write(part);
    if (hasRoom()) return;
    stdin.pause();
    await requests.until(hasRoom);
    if (isReading) stdin.resume();
  };
  const answered = async (): Promise<void> => {
    // What was read before the end is passed on first, a last line without its newline too.
    await new Promise((resolve) => gate.write("\n", resolve));
    await requests.until(() => requests.size === 0);
  };
  const transport = new StdioServerTransport(gate, stdout);
  // The SDK listens for an error once for each message that waits to be read.
  stdout.setMaxListeners(0);
  const connection = serveTransport(({ era }) => createMcpServer(deps, caller, { era }), {
    transport,
    onerror: (error) => log.debug({ err: error }, "An MCP message could not be handled"),
  });
  const closed = requests.follow(transport);
  stdin.on("data", read);
  await Promise.race([closed, ended(stdin), aborted(stopSignal)]);
  isReading = false;
  onEnd?.();
  stdin.off("data", read).pause();
  await Promise.race([closed, within(clock, GRACE_MS, answered())]);
  await connection.close();
  const flushed = new Promise<void>((resolve) => stdout.write("", () => resolve()));
  await within(clock, FLUSH_MS, flushed);
}

/** The client's requests that have no answer yet. */
class OpenRequests {
  readonly #ids = new Set<RequestId>();
  #waiters: (() => void)[] = [];

  get size(): number {
    return this.#ids.size;
  }

  /** Counts what goes through a transport that the SDK has taken over already. Resolves when it is closed. */
  follow(transport: StdioServerTransport): Promise<void> {
    const { onmessage, onclose } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message) => {
      this.#noteIncoming(message);
      onmessage?.(message);
    };
    transport.send = async (message) => {
      if (!("method" in message) && message.id !== undefined) this.#ids.delete(message.id);
      await send(message).finally(() => this.#wake());
    };
    return new Promise((resolve) => {
      transport.onclose = () => {
        onclose?.();
        resolve();
      };
    });
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #noteIncoming(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.method !== "subscriptions/listen") this.#ids.add(message.id);
    if (message.method !== "notifications/cancelled") return;
    this.#ids.delete(message.params?.["requestId"] as RequestId);
    this.#wake();
  }

  #wake(): void {
    for (const check of this.#waiters.splice(0)) check();
  }
}

function ended(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
    if (stream.readableEnded || stream.destroyed) resolve();
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Resolves when the parent process has died, whose pipes may stay open. Rejects with the signal's reason. */
export async function untilOrphaned(
  readParentId: () => number,
  clock: AppContext["clock"],
  signal: AbortSignal,
): Promise<void> {
  const parentId = readParentId();
  while (readParentId() === parentId) await clock.sleep(PARENT_POLL_MS, signal);
}
