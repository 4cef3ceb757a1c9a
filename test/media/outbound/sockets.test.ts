import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, expect, it } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import type { Socket, SocketRequest } from "../../../src/ports/sockets.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });

async function listen(
  onUpgrade: (socket: Duplex, key: string) => void,
  onRequest: RequestListener = () => {},
) {
  const server = createServer(onRequest).listen(0, "127.0.0.1");
  server.on("upgrade", (request, socket) => onUpgrade(socket, request.headers["sec-websocket-key"] ?? ""));
  await once(server, "listening");
  closers.push(() => (server.closeAllConnections(), server.close()));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A server that somebody else wrote, which refuses what is no proper frame of a client. */
async function serve(onSocket: (socket: WebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", onSocket);
  await once(server, "listening");
  closers.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const echo = (socket: WebSocket): void => void socket.on("message", (data) => socket.send(String(data)));

const say = (text: string) => async (socket: Socket) => {
  await socket.send(text);
  return socket.receive();
};

it.each([1, 125, 126, 65_535, 65_536, 300_000])("carries texts of %s letters both ways", async (length) => {
  const url = await serve(echo);
  const text = "ü".repeat(length / 2) + "x".repeat(length % 2);
  expect(await door.converse({ url }, say(text))).toBe(text);
});

it("puts messages together that come in parts, and answers pings between them", async () => {
  let pongs = 0;
  const url = await serve((socket) => {
    socket.on("pong", () => (pongs += 1));
    socket.on("message", () => {
      socket.send("one ", { fin: false });
      socket.ping("are you there?");
      socket.send("message", { fin: true });
      socket.send("another");
    });
  });
  const seen = await door.converse({ url }, async (socket) => [
    await say("go")(socket),
    await socket.receive(),
    await say("go")(socket),
  ]);
  expect(seen).toEqual(["one message", "another", "one message"]);
  expect(pongs).toBeGreaterThan(0);
});

it("says goodbye, and hears it", async () => {
  const codes: number[] = [];
  const url = await serve((socket) => {
    socket.on("close", (code) => codes.push(code));
    socket.on("message", () => socket.close(1001));
  });
  expect(
    await door.converse({ url }, async (socket) => [await say("bye")(socket), await socket.receive()]),
  ).toEqual([null, null]);
  await door.converse(
    { url: await serve((socket) => socket.on("close", (code) => codes.push(code))) },
    async () => {},
  );
  await expect.poll(() => codes).toContain(1000);
});

const failureOf = (request: SocketRequest, work: (socket: Socket) => Promise<unknown> = say("x")) =>
  door.converse(request, work).then(
    () => null,
    (error: unknown) => (error instanceof OutboundFailure ? { wasSent: error.wasSent } : error),
  );

it("tells that nothing was sent where there is no conversation", async () => {
  const closed = await listen((socket) => socket.destroy());
  const page = await listen(
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"),
    (_request, response) => response.end("hi"),
  );
  const other = await listen((socket) =>
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: no\r\n\r\n",
    ),
  );
  for (const url of ["ws://127.0.0.1:1/", closed, page, other])
    expect([url, await failureOf({ url })]).toEqual([url, { wasSent: false }]);
});

it("refuses addresses inside, and such as are none of a WebSocket", async () => {
  const url = await serve(echo);
  await using guarded = createOutbound({
    allowedHosts: [],
    lookup: async () => [{ address: "127.0.0.1", family: 4 }],
  });
  const named = url.replace("127.0.0.1", "relay.test");
  for (const inside of [url, named, "wss://[::1]/", "https://relay.example/", "relay.example"]) {
    const error: unknown = await guarded
      .converse({ url: inside }, say("x"))
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "invalid", message: expect.stringMatching(/^The address /) });
  }
});

it("ends with its time, and when it is called off", async () => {
  const url = await serve(() => {});
  expect(await failureOf({ url, timeoutMs: 1_500 })).toEqual({ wasSent: true });
  const silent = await listen(() => {});
  expect(await failureOf({ url: silent, timeoutMs: 50 })).toEqual({ wasSent: false });
  const abort = new AbortController();
  const called = failureOf({ url, signal: abort.signal }, async (socket) => {
    abort.abort();
    return socket.receive();
  });
  expect(await called).toEqual({ wasSent: false });
});

it("takes no more than it is allowed to", async () => {
  const url = await serve((socket) => socket.on("message", () => socket.send("x".repeat(2_000))));
  expect(await failureOf({ url, maxBytes: 1_000 })).toEqual({ wasSent: true });
  const twice = async (socket: Socket) => [await say("x")(socket), await say("x")(socket)];
  expect(await failureOf({ url, maxBytes: 3_000 }, twice)).toEqual({ wasSent: true });
});

it.each([
  ["what is not text", (socket: WebSocket) => socket.send(Buffer.from([1, 2]))],
  ["what is not UTF-8", (socket: WebSocket) => socket.send(Buffer.from([0xff, 0xfe]), { binary: false })],
])("takes nothing from a server that sends %s", async (_what, misbehave) => {
  const url = await serve((socket) => socket.on("message", () => misbehave(socket)));
  expect(await failureOf({ url })).toEqual({ wasSent: true });
});

it.each([
  ["masked", [0x81, 0x81, 0, 0, 0, 0, 0x78]],
  ["compressed", [0xc1, 0x01, 0x78]],
  ["a ping in parts", [0x09, 0x00]],
  ["a ping too long", [0x89, 0x7e, 0x00, 0x7e]],
  ["longer than can be", [0x81, 0x7f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ["longer than is allowed", [0x81, 0x7f, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]],
  ["a message within another", [0x01, 0x01, 0x78, 0x81, 0x01, 0x78]],
  ["the middle of nothing", [0x80, 0x01, 0x78]],
])("takes nothing from a server whose frame is %s", async (_what, bytes) => {
  const url = await serve((socket) => {
    const raw = (socket as unknown as { _socket: Duplex })._socket;
    socket.on("message", () => raw.write(Buffer.from(bytes)));
  });
  expect(await failureOf({ url, timeoutMs: 5_000 })).toEqual({ wasSent: true });
});

it("lets through what its user throws", async () => {
  const url = await serve(echo);
  const error = new TypeError("mine");
  expect(
    await failureOf({ url }, async () => {
      throw error;
    }),
  ).toBe(error);
});
