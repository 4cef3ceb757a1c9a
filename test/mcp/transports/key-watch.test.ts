import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { revokeKey } from "../../../src/access/api-keys.ts";
import { send, type Ask } from "../../support/http.ts";
import { connectPeer, startMcpServer, type McpServerUnderTest } from "../peers.ts";
import { callOf } from "../../support/context.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "hand", version: "1" } },
};
const ACCEPT = { Accept: "application/json, text/event-stream" };

let server: McpServerUnderTest;

beforeEach(async () => {
  server = await startMcpServer();
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

const ask = (target: string, { headers, ...rest }: Ask): ReturnType<typeof send> =>
  send(server.http.port, target, { headers: { ...ACCEPT, ...headers }, ...rest });

async function openStream(
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ stream: IncomingMessage; ended: Promise<unknown> }> {
  const method = body === undefined ? "GET" : "POST";
  const outgoing = request({
    port: server.http.port,
    path,
    method,
    headers: { ...ACCEPT, ...headers },
    agent: false,
  }).end(body);
  outgoing.on("error", () => {});
  const [stream]: [IncomingMessage] = (await once(outgoing, "response")) as any;
  expect(stream.statusCode).toBe(200);
  stream.on("error", () => {}).resume();
  return { stream, ended: new Promise((resolve) => stream.once("close", resolve)) };
}

async function openBoth(key: string): Promise<Awaited<ReturnType<typeof openStream>>[]> {
  const Authorization = `Bearer ${key}`;
  const session = (await ask("POST /mcp", { key, json: INITIALIZE })).headers["mcp-session-id"]!;
  return [
    await openStream("/mcp", { Authorization, "Mcp-Session-Id": session }),
    await openStream("/sse", { Authorization }),
  ];
}

describe("the open streams of a key", () => {
  it("end soon after it is revoked, and nobody else's", async () => {
    const other = await server.http.keyFor("default");
    const revoked = await openBoth(server.key);
    const kept = await openBoth(other);
    await revokeKey(callOf(server.ctx), { key: server.key });
    await server.ctx.clock.advance(5_000);
    await Promise.all(revoked.map(({ ended }) => ended));
    expect(kept.map(({ stream }) => stream.closed)).toEqual([false, false]);
    expect(server.endpoints.sessionCount()).toBe(1);
    for (const { stream } of kept) stream.destroy();
  });

  it("end when it expires", async () => {
    const key = await server.http.keyFor("default", { expires: "1m" });
    const streams = await openBoth(key);
    await server.ctx.clock.advance(65_000);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it("end with the call that a stateless client has under way", async () => {
    const peer = await connectPeer({
      wire: "/mcp",
      line: "sdk 2, stateless",
      port: server.http.port,
      key: server.key,
    });
    const call = peer.call("wait").catch((error: unknown) => error);
    await server.notes.has("waiting");
    await revokeKey(callOf(server.ctx), { key: server.key });
    await server.ctx.clock.advance(5_000);
    await server.notes.has("cancelled");
    expect(await call).toBeInstanceOf(Error);
    await Promise.allSettled([peer[Symbol.asyncDispose]()]);
  });
});

it("serves the older streams no more once they are switched off", async () => {
  await using modern = await startMcpServer({ hasLegacySse: false });
  const at = { key: modern.key };
  expect(await send(modern.http.port, "GET /sse", at)).toMatchObject({
    status: 404,
    text: expect.stringContaining("Use /mcp"),
  });
  expect((await send(modern.http.port, "POST /messages?sessionId=x", { ...at, json: {} })).status).toBe(404);
  expect(
    (await send(modern.http.port, "POST /mcp", { ...at, headers: ACCEPT, json: INITIALIZE })).status,
  ).toBe(200);
});
