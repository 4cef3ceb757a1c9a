import type { Readable, Writable } from "node:stream";
import {
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { MAX_MESSAGE_BYTES } from "../limits.ts";
import { CallQueue } from "./call-queue.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Revision 2025-03-26 allows batches; more at once is not a client at work. */
const MAX_BATCH = 100;

/** While more than this waits to be read, no call is begun and nothing is sent that can be done without. */
const MAX_UNREAD_BYTES = 1024 * 1024;

const SENTENCES = {
  parse: "The line is not valid JSON. A message is one JSON-RPC object on one line, in UTF-8.",
  shape: "The line is not a JSON-RPC 2.0 message.",
  batch: `A batch holds 1 to ${MAX_BATCH} messages.`,
  long: `The message is longer than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB and was not read. Send less at once, or a file by its address.`,
} as const;

/** An id as the first member of a message, and as its last; inside a string the quotes would be escaped. */
const FIRST_ID = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"[^"\\]*")\s*,/;
const LAST_ID = /,\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * MCP on a pair of streams, one message a line. Unlike the SDK's own transport it knows what is unanswered,
 * so that calls in flight can be answered after the input has ended; it answers lines that it cannot read,
 * and survives those too long. A client that does not read is not read from either.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;

  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines: LineSplitter;
  readonly #inputEnd = new AbortController();
  readonly #broken = new AbortController();
  readonly #calls: CallQueue;
  #isReading = false;
  #unwritten = 0;
  #isClosed = false;
  #waiters: (() => void)[] = [];

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#calls = new CallQueue({
      mayBegin: () => this.#isRead(),
      begin: (message) => this.onmessage?.(message),
    });
    this.#lines = new LineSplitter(MAX_MESSAGE_BYTES, {
      onLine: (line) => this.#readLine(line),
      onLongLine: ({ head, tail }) =>
        this.#refuse(findId(head, tail), ProtocolErrorCode.InvalidRequest, SENTENCES.long),
    });
  }

  /** Aborted when no more messages will come. */
  get inputEnd(): AbortSignal {
    return this.#inputEnd.signal;
  }

  /** Aborted when nobody reads the answers any more. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  async start(): Promise<void> {
    this.#stdin
      .on("data", this.#onData)
      .on("end", this.#onEnd)
      .on("close", this.#onEnd)
      .on("error", this.#onEnd);
    this.#isReading = true;
    // Stays for good: a late write into a closed pipe must not bring the process down.
    this.#stdout.on("error", () => this.#break());
    this.#stdout.on("close", () => this.#break());
    if (this.#stdin.readableEnded || this.#stdin.destroyed) setImmediate(this.#onEnd);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message) && message.id !== undefined) this.#calls.remove(message.id);
    // A notification is about what can be asked for as well.
    if ("method" in message && !("id" in message) && !this.#isRead()) return Promise.resolve();
    return this.#write(message);
  }

  /** Takes no more messages. */
  stopReading(): void {
    this.#isReading = false;
    this.#stdin.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd);
    this.#stdin.pause();
  }

  /** Resolves when every request that was read has its answer, or nobody reads them. */
  answered(): Promise<void> {
    return this.#until(() => this.#calls.isEmpty);
  }

  /** Resolves when everything was handed to the operating system, or nobody reads it. */
  flushed(): Promise<void> {
    return this.#until(() => this.#unwritten === 0);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.stopReading();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    if (this.#calls.isFull) this.#stdin.pause();
  };

  readonly #onEnd = (): void => {
    if (this.#inputEnd.signal.aborted) return;
    this.#lines.end();
    this.#inputEnd.abort();
  };

  #readLine(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return this.#refuse(null, ProtocolErrorCode.ParseError, SENTENCES.parse);
    }
    if (!Array.isArray(value)) return this.#readMessage(value, line.length);
    if (value.length === 0 || value.length > MAX_BATCH)
      return this.#refuse(null, ProtocolErrorCode.InvalidRequest, SENTENCES.batch);
    for (const item of value) this.#readMessage(item, Math.ceil(line.length / value.length));
  }

  #readMessage(value: unknown, bytes: number): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      // What looks like an answer gets none: two programs must not go on refusing each other's refusals.
      if (!hasKey(value, "result") && !hasKey(value, "error"))
        this.#refuse(idOf(value), ProtocolErrorCode.InvalidRequest, SENTENCES.shape);
      return;
    }
    // A subscription is a request without an end: nobody waits for its answer.
    if ("method" in message && "id" in message && message.method !== "subscriptions/listen") {
      this.#calls.add({ id: message.id, message, bytes });
      return this.#calls.advance();
    }
    if ("method" in message && message.method === "notifications/cancelled")
      this.#forget(message.params?.["requestId"]);
    this.onmessage?.(message);
  }

  #forget(id: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    this.#calls.cancel(id);
    this.#goOn();
  }

  #isRead(): boolean {
    return this.#stdout.writableLength <= MAX_UNREAD_BYTES;
  }

  #goOn(): void {
    this.#calls.advance();
    if (this.#isReading && !this.#calls.isFull) this.#stdin.resume();
    this.#wake();
  }

  #refuse(id: RequestId | null, code: number, message: string): void {
    if (!this.#isRead()) return;
    this.#write({ jsonrpc: "2.0", id, error: { code, message } }).catch(() => {
      // Nobody reads it; #break has seen to the rest.
    });
  }

  #write(message: object): Promise<void> {
    if (this.#broken.signal.aborted) return Promise.reject(new Error("The client no longer reads."));
    this.#unwritten += 1;
    return new Promise((resolve, reject) => {
      this.#stdout.write(`${JSON.stringify(message)}\n`, (error) => {
        this.#unwritten -= 1;
        this.#goOn();
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }

  #break(): void {
    this.#broken.abort();
    this.#wake();
  }

  #until(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (isDone() || this.#broken.signal.aborted) resolve();
        else this.#waiters.push(check);
      };
      check();
    });
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const check of waiters) check();
  }
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === "object" && value !== null && key in value;
}

function idOf(value: unknown): RequestId | null {
  if (typeof value !== "object" || value === null || !("id" in value)) return null;
  return typeof value.id === "string" || typeof value.id === "number" ? value.id : null;
}

function findId(head: string, tail: string): RequestId | null {
  const text = FIRST_ID.exec(head)?.[1] ?? LAST_ID.exec(tail)?.[1];
  if (text === undefined) return null;
  return text.startsWith('"') ? text.slice(1, -1) : Number(text);
}
