import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import express from "express";
import { startHttpServer, type HttpServer } from "../../src/http/server.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

const MiB = 1024 * 1024;

const sockets: Socket[] = [];
let server: HttpServer;
/** Answers under way: a client that reads nothing does not notice its own end. */
let open: Set<object>;

beforeEach(async () => {
  const under = new Set<object>();
  open = under;
  const app = express();
  app.use((_request, response, next) => {
    under.add(response);
    response.once("close", () => under.delete(response));
    next();
  });
  app.get("/page", (_request, response) => void response.send("x".repeat(20 * MiB)));
  app.get("/stream", (_request, response) => void response.writeHead(200).write("hello"));
  app.get("/late", (_request, response) => void setTimeout(() => response.send("done"), 700));
  app.post("/body", express.raw({ type: () => true }));
  const limits = { idleTimeoutMs: 200, maxConnections: 8 };
  server = await startHttpServer(app, { host: "127.0.0.1", port: 0 }, limits);
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close(0);
});

/** Sends a request and reads nothing. */
function ask(target: string, more = "", port = server.port): Socket {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}).pause();
  socket.write(`${target} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`);
  return socket;
}

describe("a connection on which nothing moves", () => {
  it.each([
    ["because an answer is not read", "GET /page", ""],
    ["because a body stops", "POST /body", "Content-Length: 10\r\n"],
  ])("%s is ended", async (_why, target, more) => {
    ask(target, more);
    await expect.poll(() => open.size).toBe(1);
    await expect.poll(() => open.size, { timeout: 10_000 }).toBe(0);
  });

  it("because there is nothing to say yet stays", async () => {
    ask("GET /stream");
    const late = ask("GET /late").setEncoding("utf8");
    let text = "";
    late.on("data", (part: string) => (text += part)).resume();
    await expect.poll(() => text, { timeout: 5_000 }).toContain("done");
    expect(open.size).toBe(1);
  });

  it("holds a place among so many, and no more are taken", async () => {
    for (let count = 0; count < 8; count++) ask("GET /stream");
    await expect.poll(() => open.size).toBe(8);
    const refused = ask("GET /stream").resume();
    await new Promise((resolve) => refused.once("close", resolve));
    expect(open.size).toBe(8);
  });
});

describe("answers that nobody reads", () => {
  it("are dropped where they are too many together, and others are answered", async () => {
    let closed = 0;
    const app = express();
    app.get("/page", (_request, response) => {
      response.once("close", () => (closed += 1));
      response.send("x".repeat(20 * MiB));
    });
    app.get("/small", (_request, response) => void response.send("small"));
    const limits = { maxUnreadBytes: 100 * MiB };
    const other = await startHttpServer(app, { host: "127.0.0.1", port: 0 }, limits);
    for (let count = 0; count < 8; count++) ask("GET /page", "", other.port);
    // Together 160 MiB. What the system keeps for a connection is not counted.
    await expect.poll(() => closed).toBeGreaterThanOrEqual(2);
    expect(closed).toBeLessThanOrEqual(4);
    expect(await (await fetch(`http://127.0.0.1:${other.port}/small`)).text()).toBe("small");
    await other.close(0);
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
