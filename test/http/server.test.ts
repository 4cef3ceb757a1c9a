import { once } from "node:events";
import { connect } from "node:net";
import express from "express";
import { describe, expect, it } from "vitest";
import { TIME_LIMITS } from "../../src/domain/time-limits.ts";
import { connectionsFor, startHttpServer } from "../../src/http/server.ts";
import { send } from "../support/http.ts";

const at = { host: "127.0.0.1", port: 0 };

describe("startHttpServer", () => {
  it("says in one sentence that the port is taken", async () => {
    const first = await startHttpServer(express(), at);
    await expect(startHttpServer(express(), { ...at, port: first.port })).rejects.toThrow(
      `Port ${first.port} on 127.0.0.1 is taken by another program or another Posthorn. Stop that one, or set POSTHORN_PORT to a free port.`,
    );
    await first.close();
  });

  it("says in one sentence that the address is not this machine's", async () => {
    await expect(startHttpServer(express(), { ...at, host: "192.0.2.1" })).rejects.toThrow(
      /This machine has no address 192.0.2.1. Set POSTHORN_HOST/,
    );
  });

  it("answers what is in flight, then ends, and takes nothing new", async () => {
    let finish = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let answer = (): void => {};
    const app = express();
    app.get("/", (_request, response) => {
      answer = () => response.json({ done: true });
      finish();
    });
    const server = await startHttpServer(app, at);
    const inFlight = send(server.port, "GET /", { headers: { Connection: "keep-alive" } });
    await arrived;
    const closed = server.close();
    await expect(send(server.port, "GET /")).rejects.toThrow(/ECONNREFUSED/);
    answer();
    expect((await inFlight).json).toEqual({ done: true });
    await closed;
    await server.close();
  });

  it.each(["never used", "used before"])(
    "drops a connection that is idle, %s, when it ends",
    async (kind) => {
      const server = await startHttpServer(express(), at);
      const socket = connect(server.port, "127.0.0.1");
      const ended = new Promise((resolve) => socket.once("close", resolve));
      socket.on("error", () => {});
      await once(socket, "connect");
      if (kind === "used before") socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      if (kind === "used before") await once(socket, "data");
      // What comes later is served by this server: the first connection has been accepted by then.
      await send(server.port, "GET /");
      // Longer than the test may take.
      await server.close(600_000);
      await ended;
    },
  );

  const POST = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
  it.each([
    ["a body that does not go on", POST],
    ["the beginning of its next request", "GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHo"],
  ])("waits no longer than a moment for %s", async (_name, bytes) => {
    const app = express();
    app.use(express.json());
    const server = await startHttpServer(app, at);
    const socket = connect(server.port, "127.0.0.1");
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {}).resume();
    socket.write(bytes);
    // What comes later is served by this server: the first connection has been accepted by then.
    await send(server.port, "GET /");
    // Longer than the test may take.
    await server.close(600_000);
    await ended;
  });

  it("finishes a request whose body still arrives", async () => {
    const app = express();
    app.use(express.json());
    app.post("/", (request, response) => void response.json(request.body));
    const server = await startHttpServer(app, at);
    const socket = connect(server.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    const ended = new Promise((resolve) => socket.once("close", resolve));
    const body = `{"a":"${"x".repeat(92)}"}`;
    socket.write(POST.slice(0, -1));
    await send(server.port, "GET /");
    const closed = server.close(600_000);
    for (const letters of body.match(/.{1,10}/g) ?? []) {
      socket.write(letters);
      await new Promise((resolve) => setTimeout(resolve, TIME_LIMITS.silentBody / 8));
    }
    await closed;
    await ended;
    expect(text).toMatch(/^HTTP\/1.1 200 /);
  });

  it("leaves descriptors to publishing", () => {
    const limits = (most: number | string) =>
      `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${most}                 ${most}                 files`;
    expect(connectionsFor(limits(120))).toBe(20);
    expect(connectionsFor(limits(1_024))).toBe(472);
    expect(connectionsFor(limits(1_048_576))).toBe(500);
    expect(connectionsFor(limits("unlimited"))).toBe(500);
    expect(connectionsFor(limits(20))).toBe(16);
    expect(connectionsFor(null)).toBe(500);
  });

  it.each([
    ["garbage", "\u0016\u0003\u0001 hello\r\n\r\n", 400],
    ["an unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["headers that are too long", `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", 400],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
  ])("answers %s in the shape of every failure", async (_name, bytes, status) => {
    const server = await startHttpServer(express(), at);
    const socket = connect(server.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.write(bytes);
    await ended;
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toMatch(/\r\nX-Request-Id: [\w-]{36}\r\n/);
    expect(Object.keys(JSON.parse(text.split("\r\n\r\n")[1] ?? ""))).toEqual(["error"]);
    await server.close();
  });
});
