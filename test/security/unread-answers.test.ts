import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import express, { type Express } from "express";
import { READER_LIMITS, type ReaderLimits } from "../../src/http/access/slow-readers.ts";
import { startHttpServer, type HttpServer } from "../../src/http/server.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

const MiB = 1024 * 1024;
const AT = { host: "127.0.0.1", port: 0 };

/** As shipped, in a hundredth of the time. */
const FAST: ReaderLimits = { ...READER_LIMITS, lookEveryMs: READER_LIMITS.lookEveryMs / 100 };

const sockets: Socket[] = [];
let server: HttpServer | null = null;
let port: number;

async function start(app: Express, readers: ReaderLimits = FAST): Promise<void> {
  const started = await startHttpServer(app, AT, { readers });
  server = started;
  port = started.port;
}

beforeEach(() => {
  sockets.length = 0;
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server?.close(0);
  server = null;
});

interface Client {
  readonly socket: Socket;
  readonly ended: Promise<void>;
}

/** Sends requests and reads nothing. */
function ask(path: string, count = 1): Client {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}).pause();
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count));
  return { socket, ended };
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What this process still needs: how much the system has given to it depends on what ran here before. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** One that nobody reads notices its end only when it is read, so the server counts. */
function createApp(): { app: Express; open(): number; made(): number } {
  const app = express();
  let open = 0;
  let made = 0;
  app.use((_request, response, next) => {
    open += 1;
    made += 1;
    response.once("close", () => (open -= 1));
    next();
  });
  app.get("/page", (_request, response) => void response.end(Buffer.alloc(20 * MiB)));
  app.get("/text", (_request, response) => void response.send("x".repeat(20 * MiB)));
  app.get("/stream", (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const timer = setInterval(() => response.write(`data: ${"x".repeat(200_000)}\n\n`), 10);
    response.once("close", () => clearInterval(timer));
  });
  app.get("/quiet", (_request, response) => void response.writeHead(200).write("hello"));
  return { app, open: () => open, made: () => made };
}

describe("whoever does not take an answer", () => {
  it.each(["/page", "/text", "/stream"])("of %s is left", async (path) => {
    const { app, open, made } = createApp();
    await start(app);
    ask(path);
    await until(() => made() === 1);
    await until(() => open() === 0);
  });

  it("or takes it drop by drop, is left", async () => {
    const { app, open, made } = createApp();
    await start(app);
    const { socket } = ask("/page");
    await until(() => made() === 1);
    const timer = setInterval(() => socket.read(1), 10);
    await until(() => open() === 0);
    clearInterval(timer);
  });

  it("does not fill the memory until then", async () => {
    const { app, open, made } = createApp();
    await start(app, { ...FAST, maxWaitingBytes: 100 * MiB, maxLooks: 1_000_000 });
    const before = heldBytes();
    for (let count = 0; count < 30; count++) ask("/text");
    await until(() => made() === 30 && open() <= 7);
    // All of them would be 600 MiB.
    expect(heldBytes() - before).toBeLessThan(250 * MiB);
  });

  it("but takes it slowly, gets all of it", async () => {
    const { app } = createApp();
    // The system's own buffers do not fill and empty any faster in a test.
    await start(app, { ...FAST, maxLooks: 300 });
    const { socket } = ask("/page");
    let taken = 0;
    socket.on("data", (part: Buffer) => {
      taken += part.length;
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    });
    socket.resume();
    await until(() => taken >= 20 * MiB);
  });

  it("because there is none yet, waits as long as it likes", async () => {
    const { app, open } = createApp();
    await start(app);
    ask("/quiet");
    await until(() => open() === 1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(open()).toBe(1);
  });
});

describe("whoever sends many requests at once on one connection", () => {
  it("is served one by one", async () => {
    const { app, made } = createApp();
    await start(app, { ...FAST, maxLooks: 1_000_000 });
    ask("/page", 50);
    await until(() => made() > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(made()).toBe(1);
  });

  it("gets each answer in its turn, and none beyond a hundred", async () => {
    const app = express();
    app.get("/:number", (request, response) => {
      setTimeout(() => response.send(`<${request.params["number"]}>`), 1);
    });
    await start(app);
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    const numbers = Array.from({ length: 60 }, (_, at) => at);
    socket.write(numbers.map((at) => `GET /${at} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(""));
    await until(() => text.includes("<59>"));
    expect([...text.matchAll(/<(\d+)>/g)].map(([, at]) => Number(at))).toEqual(numbers);
    const flood = ask("/page", 5_000);
    flood.socket.resume();
    await flood.ended;
  });
});

describe("whoever posts to an older stream and does not read it", () => {
  it("loses the stream, and is told so", async () => {
    await using service = await startServiceWithMcp();
    const key = await service.keyFor("default");
    const socket = connect(service.port, "127.0.0.1").setEncoding("utf8");
    socket.on("error", () => {});
    socket.write(`GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    let text = "";
    while (!text.includes("sessionId=")) {
      await new Promise((resolve) => socket.once("readable", resolve));
      text += String(socket.read() ?? "");
    }
    const endpoint = /data: (\S+)/.exec(text)?.[1];
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const statuses = new Set<number>();
    let posts = 0;
    // What the system keeps for a connection, and 4 MiB of ours.
    for (; posts < 2_000 && !statuses.has(404); posts += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => service.ask(`POST ${endpoint}`, { key, json: list })),
      );
      for (const { status } of answers) statuses.add(status);
    }
    const refused = await service.ask(`POST ${endpoint}`, { key, json: list });
    expect(refused).toMatchObject({ status: 404 });
    expect(refused.json.error.message).toContain("Open one with GET /sse");
    expect([...statuses]).toEqual([202, 404]);
    socket.destroy();
  });
});
