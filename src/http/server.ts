import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";
import { AppError } from "../domain/errors.ts";
import { HOUR, SECOND } from "../domain/time.ts";

export interface HttpServer {
  /** The one it listens on; tells what port 0 became. */
  readonly port: number;
  /** Takes no more requests, answers those in flight for `graceMs`, and ends; default: within 10 seconds. */
  close(graceMs?: number): Promise<void>;
}

/** Less than the descriptors of a usual process: the database, files and publishing must always find some. */
const MAX_CONNECTIONS = 500;
/** A connection on which nothing moves for so long ends, unless we are still at work on its answer. */
const IDLE_TIMEOUT_MS = 60 * SECOND;
const HEADERS_TIMEOUT_MS = 20 * SECOND;
/** A film of 4 GiB over a slow line. */
const REQUEST_TIMEOUT_MS = 4 * HOUR;
const CHECK_CONNECTIONS_MS = 5 * SECOND;
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND;
/** Streams and slow answers are cut after this long; the rest of the 10 seconds is for closing them. */
const GRACE_MS = 9 * SECOND;
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
    maxConnections = MAX_CONNECTIONS,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    maxUnreadBytes = MAX_UNREAD_BYTES,
  }: Limits = {},
): Promise<HttpServer> {
  // Browsers and pools connect ahead of need. Node counts such a connection as busy, and waits for it at the end.
  const unused = new Set<Socket>();
  const open = new Set<Socket>();
  const server = createServer(
    {
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, requestTimeoutMs),
    },
    (request, response) => {
      unused.delete(request.socket);
      response.once("prefinish", () => closeUnread(open, maxUnreadBytes));
      response.once("finish", () => {
        if (!request.complete) discardRest(request);
      });
      response.on("timeout", (socket: Socket) => {
        // Its sender has stopped, or its reader. A long call and a quiet event stream go on.
        if (!request.complete || socket.writableLength > 0) socket.destroy();
      });
      app(request, response);
    },
  );
  server.maxConnections = maxConnections;
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
  return { port: address.port, close: (graceMs = GRACE_MS) => close(server, unused, graceMs) };
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

function close(server: Server, unused: Iterable<Socket>, graceMs: number): Promise<void> {
  for (const socket of unused) socket.destroy();
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EACH_MS);
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(cut);
      resolve();
    });
  });
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
