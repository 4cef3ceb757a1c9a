import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";
import { AppError } from "../domain/errors.ts";
import { SECOND } from "../domain/time.ts";
import { Connections } from "./access/connections.ts";
import { leaveSlowReaders, READER_LIMITS, type ReaderLimits } from "./access/slow-readers.ts";

export interface HttpServer {
  /** The one it listens on; tells what port 0 became. */
  readonly port: number;
  /** Takes no more requests, answers those in flight for `graceMs`, and ends; default: within 10 seconds. */
  close(graceMs?: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 20 * SECOND;
/** How often Node looks whose headers are late. */
const CHECK_HEADERS_EACH_MS = 5 * SECOND;
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND;
const DEFAULT_MAX_CONNECTIONS = 1_000;
/** Streams and slow answers are cut after this long; the rest of the 10 seconds is for closing them. */
const GRACE_MS = 9 * SECOND;

interface Limits {
  /** Connections at once; default 1,000. */
  readonly maxConnections?: number;
  readonly readers?: ReaderLimits;
}

/** Throws `unavailable` with one sentence when the address cannot be listened on. */
export async function startHttpServer(
  app: Express,
  at: { readonly host: string; readonly port: number },
  { maxConnections = DEFAULT_MAX_CONNECTIONS, readers = READER_LIMITS }: Limits = {},
): Promise<HttpServer> {
  const connections = new Connections(maxConnections);
  const server = createServer(
    {
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_HEADERS_EACH_MS,
    },
    (request, response) => connections.serve(request, response, () => app(request, response)),
  );
  server.on("connection", (socket: Socket) => connections.add(socket));
  leaveSlowReaders(server, readers);
  // An upload of a large video may take longer than any fixed time; bodies of JSON have a limit of their own.
  server.requestTimeout = 0;
  server.on("clientError", refuseGarbage);
  const close = closer(server, connections);
  await listen(server, at);
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server listens on no port.");
  return { port: address.port, close };
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
    EADDRINUSE: `Port ${port} on ${host} is taken by another program. Stop that program, or set POSTHORN_PORT to a free port.`,
    EACCES: `Port ${port} on ${host} may not be used by this user. Set POSTHORN_PORT to a port above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set POSTHORN_HOST to one it has, for example 127.0.0.1.`,
    ENOTFOUND: `The name ${host} is not known here. Set POSTHORN_HOST to an address of this machine, for example 127.0.0.1.`,
  };
  const sentence =
    reasons[error.code ?? ""] ??
    `The server cannot listen on ${host}, port ${port}. Check POSTHORN_HOST and POSTHORN_PORT.`;
  return new AppError("unavailable", sentence, { cause: error });
}

function closer(server: Server, connections: Connections): (graceMs?: number) => Promise<void> {
  return (graceMs = GRACE_MS) =>
    new Promise((resolve) => {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      server.close(() => {
        clearTimeout(cut);
        resolve();
      });
      connections.close();
    });
}

const GARBAGE_STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is not HTTP never reaches the app; it gets an answer of the same shape. */
function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status = GARBAGE_STATUS[error.code ?? ""] ?? "400 Bad Request";
  const body = JSON.stringify({
    error: "The request is not valid HTTP, or its headers are too long or came too slowly.",
  });
  const head = [
    `HTTP/1.1 ${status}`,
    "Connection: close",
    `X-Request-Id: ${randomUUID()}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
