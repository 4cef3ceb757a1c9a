import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";
import { AppError } from "../domain/errors.ts";
import { HOUR, SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";

export interface HttpServer {
  /** The one it listens on; tells what port 0 became. */
  readonly port: number;
  /** Takes no more requests, answers those in flight for `graceMs`, and ends; default: within 10 seconds. */
  close(graceMs?: number): Promise<void>;
}

/** Of the descriptors that a process may have, half are for connections from outside, less what it opens at rest. */
const MAX_CONNECTIONS = 500;
const OPEN_AT_REST = 40;
const FEWEST_CONNECTIONS = 16;
/** Linux tells a process there how many descriptors it may have. */
const OWN_LIMITS = "/proc/self/limits";
/** A connection on which nothing moves for so long ends, unless we are still at work on its answer. */
const IDLE_TIMEOUT_MS = 60 * SECOND;
const HEADERS_TIMEOUT_MS = 20 * SECOND;
/** A film of 4 GiB over a slow line. */
const REQUEST_TIMEOUT_MS = 4 * HOUR;
const CHECK_CONNECTIONS_MS = 5 * SECOND;
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND;
/** Streams and slow answers are cut after this long; the rest of the 10 seconds is for closing them. */
const GRACE_MS = TIME_LIMITS.requestsDrain;
const CLOSE_IDLE_EACH_MS = 50;
/** Answers that wait in this process for their readers, all together. Past it those who leave most unread are closed. */
const MAX_UNREAD_BYTES = 64 * 1024 ** 2;

interface Limits {
  readonly maxConnections?: number;
  readonly idleTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly maxUnreadBytes?: number;
}

/** Throws `unavailable` with one sentence when the address cannot be listened on. */
export async function startHttpServer(
  app: Express,
  at: { readonly host: string; readonly port: number },
  {
    maxConnections,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    maxUnreadBytes = MAX_UNREAD_BYTES,
  }: Limits = {},
): Promise<HttpServer> {
  // Browsers and pools connect ahead of need. Node counts such a connection as busy, and waits for it at the end.
  const unused = new Set<Socket>();
  const open = new Set<Socket>();
  const answered = new Set<IncomingMessage>();
  const server = createServer(
    {
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, requestTimeoutMs),
    },
    (request, response) => {
      follow(request, response, { unused, open, answered, maxUnreadBytes });
      app(request, response);
    },
  );
  server.maxConnections = maxConnections ?? connectionsFor(await readOwnLimits());
  server.timeout = idleTimeoutMs;
  server.on("clientError", refuseGarbage);
  server.on("connection", (socket) => {
    for (const sockets of [unused, open]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
  });
  await listen(server, at);
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server listens on no port.");
  return { port: address.port, close: (graceMs = GRACE_MS) => close(server, { unused, answered }, graceMs) };
}

interface Following {
  readonly unused: Set<Socket>;
  readonly open: ReadonlySet<Socket>;
  readonly answered: Set<IncomingMessage>;
  readonly maxUnreadBytes: number;
}

function follow(
  request: IncomingMessage,
  response: ServerResponse,
  { unused, open, answered, maxUnreadBytes }: Following,
): void {
  unused.delete(request.socket);
  answered.add(request);
  response.once("close", () => {
    answered.delete(request);
    if (!request.socket.destroyed) unused.add(request.socket);
  });
  response.once("prefinish", () => closeUnread(open, maxUnreadBytes));
  response.once("finish", () => {
    if (!request.complete) discardRest(request);
  });
  response.on("timeout", (socket: Socket) => {
    // Its sender has stopped, or its reader. A long call and a quiet event stream go on.
    if (!request.complete || socket.writableLength > 0) socket.destroy();
  });
}

/**
 * Reads away what a refused request still sends. Node does so only where no one began to read, and the next request
 * of the connection would wait behind the rest. `resume` would wait for a reader that has given up.
 */
function discardRest(request: IncomingMessage): void {
  const discard = (): void => {
    while (request.read() !== null);
  };
  request.on("readable", discard);
  discard();
}

function closeUnread(open: Iterable<Socket>, maxBytes: number): void {
  const unread = [...open].filter(({ writableLength }) => writableLength > 0);
  let bytes = unread.reduce((sum, { writableLength }) => sum + writableLength, 0);
  for (const socket of unread.toSorted((a, b) => b.writableLength - a.writableLength)) {
    if (bytes <= maxBytes) return;
    bytes -= socket.writableLength;
    socket.destroy();
  }
}

/** Throws as `startHttpServer` would for this address, and leaves it free. */
export async function assertFreePort(at: { readonly host: string; readonly port: number }): Promise<void> {
  const server = createServer();
  await listen(server, at);
  await new Promise((resolve) => server.close(resolve));
}

function listen(server: Server, at: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, at)));
    server.listen(at.port, at.host, resolve);
  });
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): AppError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program or another Posthorn. Stop that one, or set POSTHORN_PORT to a free port.`,
    EACCES: `Port ${port} on ${host} may not be used by this user. Set POSTHORN_PORT to a port above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set POSTHORN_HOST to one it has, for example 127.0.0.1.`,
    ENOTFOUND: `The name ${host} is not known here. Set POSTHORN_HOST to an address of this machine, for example 127.0.0.1.`,
  };
  const sentence =
    reasons[error.code ?? ""] ??
    `The server cannot listen on ${host}, port ${port}. Check POSTHORN_HOST and POSTHORN_PORT.`;
  return new AppError("unavailable", sentence, { cause: error });
}

interface Open {
  /** No request of theirs is answered. */
  readonly unused: ReadonlySet<Socket>;
  /** Their answers have not ended. */
  readonly answered: ReadonlySet<IncomingMessage>;
}

function close(server: Server, { unused, answered }: Open, graceMs: number): Promise<void> {
  const closeUnused = (): void => unused.forEach((socket) => socket.destroy());
  const arrived = new Map<Socket, number>();
  // A body that arrives gets its time. One that has stopped would be waited for in vain.
  const cutSilent = (): void => {
    for (const { complete, socket } of answered) {
      if (!complete && arrived.get(socket) === socket.bytesRead) socket.destroy();
      arrived.set(socket, socket.bytesRead);
    }
  };
  closeUnused();
  cutSilent();
  return new Promise((resolve) => {
    const timers = [
      setInterval(closeUnused, CLOSE_IDLE_EACH_MS),
      setInterval(cutSilent, Math.min(TIME_LIMITS.silentBody, graceMs)),
      setTimeout(() => server.closeAllConnections(), graceMs),
    ];
    server.close(() => {
      for (const timer of timers) clearTimeout(timer);
      resolve();
    });
  });
}

/** Null where the system does not tell. */
function readOwnLimits(): Promise<string | null> {
  return readFile(OWN_LIMITS, "utf8").catch(() => null);
}

/** Connections to take at once: publishing, files and the database always find descriptors. */
export function connectionsFor(limits: string | null): number {
  const descriptors = Number(/^Max open files +(\d+)/m.exec(limits ?? "")?.[1] ?? Infinity);
  return Math.max(FEWEST_CONNECTIONS, Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 2) - OPEN_AT_REST));
}

const GARBAGE_STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Node's own answer to what is not HTTP, in the shape of every failure. */
function refuseGarbage({ code = "" }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status = GARBAGE_STATUS[code] ?? "400 Bad Request";
  const sentence = "The request is not valid HTTP, or its headers are too long or came too slowly.";
  const head = `Connection: close\r\nX-Request-Id: ${randomUUID()}\r\nContent-Type: application/json`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${JSON.stringify({ error: sentence })}`);
}
