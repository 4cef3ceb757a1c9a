import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { send, type Ask, type Answer } from "../../support/http.ts";
import { follow, Notes, startMcpServer, type McpServerUnderTest } from "../peers.ts";

let server: McpServerUnderTest;

beforeEach(async () => {
  server = await startMcpServer();
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

function ask(target: string, rest: Ask = {}): Promise<Answer> {
  return send(server.http.port, target, { key: server.key, ...rest });
}

/** Opens a stream by hand; answers where to post, and the lines that come. */
async function openStream(
  key = server.key,
): Promise<{ stream: IncomingMessage; lines: Notes; endpoint: string }> {
  const outgoing = request({
    port: server.http.port,
    path: "/sse",
    headers: { Authorization: `Bearer ${key}` },
    agent: false,
  }).end();
  const [stream]: [IncomingMessage] = (await once(outgoing, "response")) as any;
  outgoing.on("error", () => {});
  const lines = new Notes();
  follow(stream, lines);
  while (lines.list.length < 2) await once(lines, "note");
  return { stream, lines, endpoint: lines.list[1]!.replace("data: ", "") };
}

describe("the older streams", () => {
  it("name the address to post to, and answer on the stream", async () => {
    const { stream, lines, endpoint } = await openStream();
    expect(endpoint).toMatch(/^\/messages\?sessionId=/);
    const answer = await ask(`POST ${endpoint}`, { json: { jsonrpc: "2.0", id: 1, method: "ping" } });
    expect(answer).toMatchObject({ status: 202, text: "Accepted" });
    await lines.has('data: {"result":{},"jsonrpc":"2.0","id":1}');
    stream.destroy();
  });

  it("belong to their key alone", async () => {
    const { stream, endpoint } = await openStream();
    const json = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await ask(`POST ${endpoint}`, { json, key: await server.http.keyFor("default") })).status).toBe(
      404,
    );
    expect((await ask("POST /messages?sessionId=nobody", { json })).status).toBe(404);
    expect((await ask("POST /messages", { json })).status).toBe(404);
    stream.destroy();
  });

  it("refuse what is no message", async () => {
    const { stream, endpoint } = await openStream();
    expect((await ask(`POST ${endpoint}`, { json: { hello: 1 } })).status).toBe(400);
    expect(
      (await ask(`POST ${endpoint}`, { body: "{", headers: { "Content-Type": "application/json" } })).status,
    ).toBe(400);
    expect((await ask(`GET ${endpoint}`)).status).toBe(405);
    expect((await ask("POST /sse", { json: {} })).status).toBe(405);
    stream.destroy();
  });

  it("are kept alive, and forgotten when the client has gone", async () => {
    const { stream, lines, endpoint } = await openStream();
    await server.ctx.clock.advance(15_000);
    await lines.has(": keepalive");
    await ask(`POST ${endpoint}`, {
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", arguments: {} } },
    });
    await server.notes.has("waiting");
    stream.destroy();
    await server.notes.has("cancelled");
    expect((await ask(`POST ${endpoint}`, { json: { jsonrpc: "2.0", id: 2, method: "ping" } })).status).toBe(
      404,
    );
  });

  it("are a hundred a key at most", async () => {
    const streams = await Promise.all(Array.from({ length: 100 }, () => openStream()));
    expect(await ask("GET /sse")).toMatchObject({
      status: 429,
      json: { error: expect.stringContaining("100 streams") },
    });
    const other = await openStream(await server.http.keyFor("default"));
    for (const { stream } of [...streams, other]) stream.destroy();
  });
});
