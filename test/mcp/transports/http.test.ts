import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_MESSAGE_BYTES } from "../../../src/mcp/limits.ts";
import { send, type Answer, type Ask } from "../../support/http.ts";
import { connectPeer, startMcpServer, type McpServerUnderTest } from "../peers.ts";

const ACCEPT = { Accept: "application/json, text/event-stream" };
const HOUR = 3_600_000;

const INITIALIZE = {
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "hand", version: "1" } },
};

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

let server: McpServerUnderTest;

beforeEach(async () => {
  server = await startMcpServer();
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

function ask(target: string, { headers, ...rest }: Ask = {}): Promise<Answer> {
  return send(server.http.port, target, { key: server.key, headers: { ...ACCEPT, ...headers }, ...rest });
}

/** The JSON-RPC messages of an answer, streamed or not. */
function messages(answer: Answer): any[] {
  if (answer.json !== undefined) return [answer.json];
  return answer.text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)));
}

async function openSession(key = server.key): Promise<string> {
  const answer = await ask("POST /mcp", { key, json: INITIALIZE });
  expect(answer.status).toBe(200);
  return answer.headers["mcp-session-id"]!;
}

function callIn(session: string, name: string, args: object, rest: Ask = {}): Promise<Answer> {
  const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  return ask("POST /mcp", { json, ...rest, headers: { "Mcp-Session-Id": session, ...rest.headers } });
}

describe("the edge of /mcp", () => {
  it("needs a key, also on loopback", async () => {
    expect(await ask("POST /mcp", { key: null, json: INITIALIZE })).toMatchObject({
      status: 401,
      headers: { "www-authenticate": "Bearer" },
      json: { error: expect.stringContaining("API key") },
    });
    expect((await ask("GET /sse", { key: null })).status).toBe(401);
    expect((await ask("POST /messages?sessionId=x", { key: null, json: {} })).status).toBe(401);
  });

  it.each([{ Origin: "null" }, { Origin: "https://evil.example" }, { Host: "evil.example" }])(
    "refuses %o",
    async (headers) => {
      expect((await ask("POST /mcp", { headers, json: INITIALIZE })).status).toBe(403);
      expect((await ask("GET /sse", { headers })).status).toBe(403);
    },
  );

  it.each(["PUT", "PATCH", "OPTIONS"])("does not take %s", async (method) => {
    expect(await ask(`${method} /mcp`)).toMatchObject({
      status: 405,
      headers: { allow: "GET, POST, DELETE" },
    });
  });

  it("answers what is no JSON, no message, or too long, as JSON-RPC does", async () => {
    const type = { "Content-Type": "application/json" };
    expect(await ask("POST /mcp", { headers: type, body: "{" })).toMatchObject({
      status: 400,
      json: { id: null, error: { code: -32700 } },
    });
    expect((await ask("POST /mcp", { headers: type, body: "5" })).status).toBe(400);
    expect((await ask("POST /mcp", { headers: { "Content-Type": "text/plain" }, body: "{}" })).status).toBe(
      415,
    );
    const long = JSON.stringify({ ...INITIALIZE, more: "x".repeat(MAX_MESSAGE_BYTES) });
    expect(await ask("POST /mcp", { headers: type, body: long })).toMatchObject({
      status: 413,
      json: { error: { message: expect.stringContaining("4 MiB") } },
    });
  });
});

describe("stateless requests", () => {
  const HEADERS = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo" };
  const CALL = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { _meta: MODERN_META, name: "echo", arguments: { text: "hi" } },
  };

  it("are answered each for its own key, without a session", async () => {
    const other = await server.http.keyFor("other");
    const [mine, theirs] = await Promise.all([
      ask("POST /mcp", { headers: HEADERS, json: CALL }),
      ask("POST /mcp", { key: other, headers: HEADERS, json: CALL }),
    ]);
    expect(mine.json.result.structuredContent.owner).toBe("default");
    expect(theirs.json.result.structuredContent.owner).toBe("other");
    expect(mine.headers["mcp-session-id"]).toBeUndefined();
    expect(server.endpoints.sessionCount()).toBe(0);
  });

  it("are refused when headers and body differ", async () => {
    const headers = { ...HEADERS, "Mcp-Name": "break" };
    expect(await ask("POST /mcp", { headers, json: CALL })).toMatchObject({
      status: 400,
      json: { error: { code: -32020 } },
    });
  });

  it("cancel their call when the client goes away", async () => {
    const gone = new AbortController();
    const body = JSON.stringify({ ...CALL, params: { ...CALL.params, name: "wait", arguments: {} } });
    const headers = {
      ...ACCEPT,
      ...HEADERS,
      "Mcp-Name": "wait",
      "Content-Type": "application/json",
      Authorization: `Bearer ${server.key}`,
    };
    const call = fetch(`http://127.0.0.1:${server.http.port}/mcp`, {
      method: "POST",
      headers,
      body,
      signal: gone.signal,
    });
    call.catch(() => {});
    await server.notes.has("waiting");
    gone.abort();
    await server.notes.has("cancelled");
  });
});

describe("sessions", () => {
  it("begin with initialize and end with DELETE", async () => {
    const session = await openSession();
    const answer = await callIn(session, "echo", { text: "hi" });
    expect(messages(answer)[0].result.structuredContent.text).toBe("hi");
    expect((await ask("DELETE /mcp", { headers: { "Mcp-Session-Id": session } })).status).toBe(200);
    expect(server.endpoints.sessionCount()).toBe(0);
    expect(await callIn(session, "echo", {})).toMatchObject({
      status: 404,
      json: { error: { code: -32001 } },
    });
  });

  it("are needed for anything else, and the answer says so", async () => {
    expect(await ask("POST /mcp", { json: { jsonrpc: "2.0", id: 1, method: "tools/list" } })).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining("Send initialize first") } },
    });
    expect((await ask("GET /mcp")).status).toBe(405);
    expect((await ask("DELETE /mcp")).status).toBe(400);
  });

  it("never act for another key, be it the same owner's", async () => {
    const session = await openSession();
    for (const key of [await server.http.keyFor("default"), await server.http.keyFor("other")]) {
      expect((await callIn(session, "echo", {}, { key })).status).toBe(404);
      expect((await ask("GET /mcp", { key, headers: { "Mcp-Session-Id": session } })).status).toBe(404);
      expect((await ask("DELETE /mcp", { key, headers: { "Mcp-Session-Id": session } })).status).toBe(404);
    }
    expect((await callIn(session, "echo", {})).status).toBe(200);
  });

  it("are not opened by an initialize that is refused", async () => {
    expect((await ask("POST /mcp", { json: INITIALIZE, headers: { Accept: "text/html" } })).status).toBe(406);
    expect(server.endpoints.sessionCount()).toBe(0);
  });

  it("are reclaimed an hour after their last use, but not while a stream is open", async () => {
    const left = await openSession();
    await using peer = await connectPeer({
      wire: "/mcp",
      line: "sdk 1",
      port: server.http.port,
      key: server.key,
    });
    await peer.call("echo");
    await server.ctx.clock.advance(HOUR / 2);
    expect(server.endpoints.sessionCount()).toBe(2);
    await server.ctx.clock.advance(HOUR);
    expect((await callIn(left, "echo", {})).status).toBe(404);
    expect((await peer.call("echo", { text: "still here" })).structuredContent.text).toBe("still here");
    expect(server.endpoints.sessionCount()).toBe(1);
  });

  it("make room for new ones: the one left alone for longest goes first", async () => {
    const first = await openSession();
    await server.ctx.clock.advance(1);
    const second = await openSession();
    for (let count = 2; count < 100; count++) await openSession();
    await server.ctx.clock.advance(1);
    await callIn(first, "echo", {});
    await openSession();
    expect(server.endpoints.sessionCount()).toBe(100);
    expect((await callIn(first, "echo", {})).status).toBe(200);
    expect((await callIn(second, "echo", {})).status).toBe(404);
  });

  it("end the stream of a call that was cancelled", async () => {
    const session = await openSession();
    const call = callIn(session, "wait", {});
    await server.notes.has("waiting");
    const json = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    expect((await ask("POST /mcp", { json, headers: { "Mcp-Session-Id": session } })).status).toBe(202);
    expect(messages(await call)).toEqual([]);
    expect(server.notes.list).toContain("cancelled");
  });
});

describe("the end of the server", () => {
  it("answers the calls in flight on every transport, then ends sessions and streams", async () => {
    const peers = await Promise.all(
      (["/mcp", "/sse"] as const).map((wire) =>
        connectPeer({ wire, line: "sdk 1", port: server.http.port, key: server.key }),
      ),
    );
    peers.push(
      await connectPeer({ wire: "/mcp", line: "sdk 2, stateless", port: server.http.port, key: server.key }),
    );
    const calls = Promise.all(peers.map((peer) => peer.call("wait", { ms: 100 })));
    await server.notes.has("waiting", 3);
    await server.endpoints.close();
    expect((await calls).map((result) => result.structuredContent)).toEqual([
      { waited: true },
      { waited: true },
      { waited: true },
    ]);
    expect(server.endpoints.sessionCount()).toBe(0);
    expect((await ask("POST /mcp", { json: INITIALIZE })).status).toBe(503);
    // Its streams gone, the HTTP server closes by itself.
    await server.http.server.close();
    await Promise.allSettled(peers.map((peer) => peer[Symbol.asyncDispose]()));
  });
});
