import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DEFAULT_TOOL_SETS } from "../../src/domain/permissions.ts";
import { createMcpEndpoints, type McpEndpoints } from "../../src/mcp/transports/endpoints.ts";
import { offerSets } from "../../src/mcp/server.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf } from "../support/context.ts";
import { send, startTestServer, type TestServer } from "../support/http.ts";
import { startService, type Service } from "../support/service.ts";

/* A model reads the list of tools before anything else, and pays for it in each conversation. */

const MAX_BYTES = 40_960;
const VERSION = "2026-07-28";

let service: Service;
let mcp: McpEndpoints;
let server: TestServer;

beforeAll(async () => {
  service = await startService();
  const toolbox = offerSets(createToolbox(service.ctx, service.tools), DEFAULT_TOOL_SETS);
  mcp = createMcpEndpoints({ toolbox, ctx: service.ctx, version: "1.2.3" });
  server = await startTestServer(service.ctx, service.tools, { mcp });
});

afterAll(async () => {
  await mcp.close();
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

it("is small as a client of the newest revision gets it, and as it goes over the wire", async () => {
  const key = await server.keyFor("default");
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: { pin: VERSION } } },
  );
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.port}/mcp`), { requestInit }),
  );
  const { tools } = await client.listTools();
  await client.close();
  const webhooks = service.tools.filter(({ name }) => name.includes("webhook"));
  expect(tools).toHaveLength(service.tools.length - webhooks.length);
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(MAX_BYTES);

  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const { text } = await send(server.port, "POST /mcp", {
    key,
    json: { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } },
    headers: {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": VERSION,
      "Mcp-Method": "tools/list",
    },
  });
  const [, raw = ""] = /"tools":(\[[^]*\])[,}]/.exec(text) ?? [];
  expect(JSON.parse(raw)).toEqual(tools);
  expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(MAX_BYTES);

  // On this machine tools have fields more.
  const bytesFor = (isLocal: boolean): number =>
    Buffer.byteLength(JSON.stringify(createToolbox(service.ctx, service.tools).list(callerOf({ isLocal }))));
  const local = Buffer.byteLength(raw) + bytesFor(true) - bytesFor(false);
  expect(local).toBeGreaterThan(Buffer.byteLength(raw));
  expect(local).toBeLessThanOrEqual(MAX_BYTES);
});
