import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import express, { type RequestHandler } from "express";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { limitVisitors } from "../../src/http/access/auth.ts";
import { errorHandler } from "../../src/http/errors.ts";
import { createMemoryLogger } from "../support/context.ts";
import type { Service } from "../support/service.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

let service: Service;
let key: string;

beforeAll(async () => {
  service = await startServiceWithMcp();
  key = await service.keyFor("default");
  const account = await service.addFeed();
  for (let at = 0; at < 50; at++)
    await service.call("schedule_post", {
      accountId: account,
      caption: `${at} ${"x".repeat(9_000)}`,
      scheduledAt: "2026-12-24T18:00:00Z",
    });
});

afterAll(() => service[Symbol.asyncDispose]());

afterEach(async () => {
  // Until everything that was under way has come to its end.
  await service.ask("GET /api/v1/status");
  await new Promise((resolve) => setTimeout(resolve, 100));
  const told = service.log.lines.filter(({ level }) => level === "error" || level === "warn");
  expect(told).toEqual([]);
});

/** Sends the beginning of a request, waits for as many bytes of the answer, and leaves. */
async function breakOff(head: string, { body = "", bytes = 0 } = {}): Promise<void> {
  const socket = connect(service.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${body}`);
  let seen = 0;
  socket.on("data", (part: Buffer) => (seen += part.length));
  await expect.poll(() => seen >= bytes).toBe(true);
  if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
}

const json = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"caption"';

it.each([
  ["POST /api/v1/posts", json],
  ["POST /api/v1/tools/schedule_post", json],
  ["POST /api/v1/files?name=a.png", "Content-Type: image/png\r\nContent-Length: 1000\r\n\r\n0123456789"],
  ["POST /mcp", json],
  [
    "POST /connect/none",
    "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na=b",
  ],
])("%s, broken off in its body, is no error in the log", (head, body) => breakOff(head, { body }));

it.each([
  ["GET /api/v1/posts?limit=50", "\r\n", 0],
  ["GET /api/v1/posts?limit=50", "\r\n", 1_000],
  ["GET /api/v1/posts?search=x&limit=50", "\r\n", 0],
  ["GET /sse", "Accept: text/event-stream\r\n\r\n", 100],
])("%s, left before its answer is out, is no error in the log (%j, %s bytes)", async (head, body, bytes) => {
  for (let times = 0; times < 5; times++) await breakOff(head, { body, bytes });
});

it("GET, left at once, is no error in the log", async () => {
  for (let times = 0; times < 20; times++) {
    const socket = connect(service.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `GET /api/v1/posts?limit=50 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      () => setTimeout(() => socket.resetAndDestroy(), times % 4),
    );
    await once(socket, "close");
  }
});

it("what fails because its client has left is told at debug, and every other failure as an error", async () => {
  const log = createMemoryLogger();
  const app = express();
  app.get("/waiting", async (_request, response) => {
    await once(response, "close");
    throw new Error("The client has gone.");
  });
  app.post("/body", express.raw({ type: () => true }));
  // A closed connection has no address any more by which its requests could be counted.
  const leaveNow: RequestHandler = (request, _response, next) => {
    request.socket.destroy();
    next();
  };
  app.get("/counted", leaveNow, limitVisitors({ log }));
  app.get("/bug", () => {
    throw new Error("A bug.");
  });
  app.use(errorHandler(log));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const leave = async (text: string): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(text);
    setTimeout(() => socket.resetAndDestroy(), 100);
    await once(socket, "close");
  };
  await leave("GET /waiting HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await leave("POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n0123456789");
  await leave("GET /counted HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await expect.poll(() => log.lines.map(({ level }) => level)).toEqual(["debug", "debug", "debug"]);
  expect((await fetch(`http://127.0.0.1:${port}/bug`)).status).toBe(500);
  expect(log.lines.map(({ level }) => level)).toEqual(["debug", "debug", "debug", "error"]);
  server.close();
  server.closeAllConnections();
});
