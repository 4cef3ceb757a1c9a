import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { loadCatalog } from "../../src/app/setup.ts";
import { createMcpEndpoints, type McpEndpoints } from "../../src/mcp/transports/endpoints.ts";
import { createToolbox, type Toolbox } from "../../src/toolkit/toolbox.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";
import { addAccount } from "../support/post-rows.ts";
import { Notes, type Line } from "./peers.ts";

export interface RealServer extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly http: TestServer;
  readonly endpoints: McpEndpoints;
  readonly toolbox: Toolbox;
}

/**
 * Every tool and platform of the product on `/mcp`, with the accounts `acc_1`, `acc_2` and, of another owner,
 * `acc_theirs`.
 */
export async function startRealServer(): Promise<RealServer> {
  const { tools, platforms } = await loadCatalog();
  const ctx = await createTestContext({ platformList: platforms });
  await addAccount(ctx.store, { id: "acc_1" });
  await addAccount(ctx.store, { id: "acc_2", provider: "webhook" });
  await addAccount(ctx.store, { id: "acc_theirs", ownerId: "other" });
  const toolbox = createToolbox(ctx, tools);
  const endpoints = createMcpEndpoints({ toolbox, ctx, version: "1.2.3" });
  const http = await startTestServer(ctx, tools, { mcp: endpoints });
  return {
    ctx,
    http,
    endpoints,
    toolbox,
    async [Symbol.asyncDispose]() {
      await endpoints.close();
      await http[Symbol.asyncDispose]();
      await ctx[Symbol.asyncDispose]();
    },
  };
}

/** A client of either SDK line on `/mcp`, reduced to what it reads. */
export interface Reader extends AsyncDisposable {
  /** Addresses told to have changed. */
  readonly updates: Notes;
  capabilities(): any;
  listTools(): Promise<any>;
  call(name: string, args: Record<string, unknown>): Promise<any>;
  list(cursor?: string): Promise<any>;
  templates(): Promise<any[]>;
  read(uri: string): Promise<any>;
  prompts(): Promise<any[]>;
  prompt(name: string, args?: Record<string, string>): Promise<any>;
  complete(ref: object, name: string, value: string): Promise<any>;
  /** Resolves, when changes are watched, to what ends that. */
  subscribe(uri: string): Promise<() => Promise<unknown>>;
}

const IDENTITY = { name: "test", version: "1.0.0" };

export async function connectReader(line: Line, port: number, key: string): Promise<Reader> {
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const updates = new Notes();
  if (line === "sdk 1") {
    const client = new OldClient(IDENTITY);
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updates.add(params.uri));
    await client.connect(new OldHttpTransport(url, { requestInit }) as Parameters<OldClient["connect"]>[0]);
    return toReader(client, updates, async (uri) => {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    });
  }
  const mode = line === "sdk 2, stateless" ? { pin: "2026-07-28" } : ("legacy" as const);
  const client = new Client(IDENTITY, { versionNegotiation: { mode } });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => updates.add(params.uri));
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return toReader(client, updates, async (uri) => {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  });
}

function toReader(client: any, updates: Notes, subscribe: Reader["subscribe"]): Reader {
  return {
    updates,
    subscribe,
    capabilities: () => client.getServerCapabilities(),
    listTools: () => client.listTools(),
    call: (name, args) => client.callTool({ name, arguments: args }),
    list: (cursor) => client.listResources(cursor === undefined ? {} : { cursor }),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents[0],
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: (name, args) => client.getPrompt({ name, ...(args && { arguments: args }) }),
    complete: async (ref, name, value) =>
      (await client.complete({ ref, argument: { name, value } })).completion,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
