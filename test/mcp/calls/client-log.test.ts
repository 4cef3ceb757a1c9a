import { Client, StreamableHTTPClientTransport, type LoggingLevel } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { send } from "../../support/http.ts";
import { startMcpServer, type McpServerUnderTest } from "../peers.ts";

let server: McpServerUnderTest;

beforeAll(async () => {
  server = await startMcpServer({
    views: [{ tool: "echo", content: ({ text }) => [{ type: "text", text: `Beside: ${String(text)}` }] }],
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe("a client with a session", () => {
  it.each([
    [null, []],
    ["debug", ["Step 1", "Step 2"]],
    ["info", ["Step 1", "Step 2"]],
    ["warning", []],
  ] as const)("that asked for a log from %s on hears what is done meanwhile", async (level, heard) => {
    expect(await countTo2(level)).toEqual(heard.map((data) => ({ level: "info", logger: "count", data })));
  });
});

async function countTo2(level: LoggingLevel | null): Promise<unknown[]> {
  const client = new Client({ name: "test", version: "1" });
  const url = new URL(`http://127.0.0.1:${server.http.port}/mcp`);
  const heard: unknown[] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => void heard.push(params));
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { Authorization: `Bearer ${server.key}` } },
    }),
  );
  try {
    if (level !== null) await client.setLoggingLevel(level);
    await client.callTool({ name: "count", arguments: { to: 2 } });
    return heard;
  } finally {
    await client.close();
  }
}

describe("a client without a session", () => {
  it.each([undefined, "info", "error"])(
    "that asks for a log from %s on hears none: its revision has no log",
    async (level) => {
      expect(await call("count", { to: 2 }, level)).not.toContain("notifications/message");
    },
  );
});

it("gets what goes beside a result after its text", async () => {
  const text = await call("echo", { text: "hello" });
  expect(text).toContain('{"type":"text","text":"Beside: hello"}]');
});

async function call(tool: string, args: object, level?: string): Promise<string> {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...(level === undefined ? {} : { "io.modelcontextprotocol/logLevel": level }),
  };
  const { text } = await send(server.http.port, "POST /mcp", {
    key: server.key,
    json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args, _meta } },
    headers: {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": version,
      "Mcp-Method": "tools/call",
      "Mcp-Name": tool,
    },
  });
  return text;
}
