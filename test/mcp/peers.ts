import { type ChildProcessByStdio, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as OldSseTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { buildSync } from "esbuild";
import { createMcpEndpoints, type McpEndpoints } from "../../src/mcp/transports/endpoints.ts";
import type { McpDeps } from "../../src/mcp/kinds.ts";
import { isKeyActive } from "../../src/access/api-keys.ts";
import { createToolbox, type ToolListing } from "../../src/toolkit/toolbox.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";
import { createSmallTools } from "./small-tools.ts";

const ROOT = join(import.meta.dirname, "..", "..");

let builtEntry: string | undefined;

/** Built once for all files of this process: from the sources each start takes twice the time. */
function buildEntry(): string {
  if (builtEntry !== undefined) return builtEntry;
  // Below `node_modules`, where it finds its packages.
  const outfile = join(ROOT, "node_modules", ".cache", "posthorn-test", `stdio-entry-${process.pid}.mjs`);
  buildSync({
    entryPoints: [join(import.meta.dirname, "transports", "stdio-entry.ts")],
    outfile,
    bundle: true,
    packages: "external",
    external: ["./postgres-store.ts"],
    platform: "node",
    format: "esm",
    target: "node20.19",
    logLevel: "error",
  });
  process.once("exit", () => rmSync(outfile, { force: true }));
  builtEntry = outfile;
  return outfile;
}

/** What a server's tools noted, in order; a test waits for a note instead of sleeping. */
export class Notes extends EventEmitter {
  readonly list: string[] = [];

  add(note: string): void {
    this.list.push(note);
    this.emit("note");
  }

  async has(note: string, count = 1): Promise<void> {
    while (this.list.filter((one) => one === note).length < count) await once(this, "note");
  }
}

export interface McpServerUnderTest extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly http: TestServer;
  readonly endpoints: McpEndpoints;
  readonly notes: Notes;
  readonly key: string;
}

/** The small tools on a real server with real keys, on `/mcp`, `/sse` and `/messages`. */
export async function startMcpServer(options: Partial<McpDeps> = {}): Promise<McpServerUnderTest> {
  const ctx = await createTestContext();
  const notes = new Notes();
  const tools = createSmallTools((note) => notes.add(note));
  const endpoints = createMcpEndpoints({
    toolbox: createToolbox(ctx, tools),
    ctx,
    version: "1.2.3",
    isKeyActive: (caller) => isKeyActive(ctx, caller),
    ...options,
  });
  const http = await startTestServer(ctx, tools, { mcp: endpoints, routes: [] });
  return {
    ctx,
    http,
    endpoints,
    notes,
    key: await http.keyFor("default"),
    async [Symbol.asyncDispose]() {
      await endpoints.close();
      await http[Symbol.asyncDispose]();
      await ctx[Symbol.asyncDispose]();
    },
  };
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
}

/** A client of either SDK line, reduced to what the tests do with it. */
export interface Peer extends AsyncDisposable {
  readonly version: () => string | undefined;
  readonly instructions: () => string | undefined;
  readonly serverInfo: () => Record<string, unknown> | undefined;
  listTools(): Promise<any[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<any>;
}

export type Line = "sdk 1" | "sdk 2, sessions" | "sdk 2, stateless";
export type Wire = "stdio" | "/mcp" | "/sse";

const IDENTITY = { name: "test", version: "1.0.0" };

interface Target {
  readonly wire: Wire;
  readonly line: Line;
  readonly port: number;
  readonly key: string;
  /** The process on stdio; default: one with the small tools. */
  readonly process?: ReturnType<typeof processOf> & { readonly env?: Record<string, string> };
  /** Permissions of a process on stdio. */
  readonly permissions?: string;
  readonly notes?: Notes;
  /** Makes it a client that puts questions to a person, who answers thus. */
  readonly person?: (question: Question) => Answer | Promise<Answer>;
  /** The kinds of questions it declares; default: both. */
  readonly kinds?: Kinds;
}

type Kinds = { readonly form?: Record<string, never>; readonly url?: Record<string, never> };

export interface Question {
  readonly mode?: string;
  readonly message: string;
  readonly url?: string;
  readonly requestedSchema?: object;
}

export type Answer = {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string>;
};

export async function connectPeer(target: Target): Promise<Peer> {
  return target.line === "sdk 1" ? connectOld(target) : connectNew(target);
}

async function connectOld(target: Target): Promise<Peer> {
  const client = new OldClient(IDENTITY, { capabilities: capabilitiesOf(target) });
  const { person } = target;
  if (person !== undefined)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      ...(await person(params as Question)),
    }));
  const transport = oldTransport(target);
  if (transport instanceof OldStdioTransport) follow(transport.stderr as Readable, target.notes);
  await client.connect(transport as Parameters<OldClient["connect"]>[0]);
  return {
    version: () => (transport as { protocolVersion?: string }).protocolVersion,
    instructions: () => client.getInstructions(),
    serverInfo: () => client.getServerVersion(),
    listTools: async () => (await client.listTools()).tools,
    call: (name, args, options) =>
      client.callTool({ name, ...(args && { arguments: args }) }, undefined, options as object),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectNew(target: Target): Promise<Peer> {
  const mode = target.line === "sdk 2, stateless" ? { pin: "2026-07-28" } : ("legacy" as const);
  const client = new Client(IDENTITY, { versionNegotiation: { mode }, capabilities: capabilitiesOf(target) });
  const { person } = target;
  if (person !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => ({
      ...(await person(params as Question)),
    }));
  const transport = newTransport(target);
  if (transport instanceof StdioClientTransport) follow(transport.stderr as Readable, target.notes);
  await client.connect(transport);
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    instructions: () => client.getInstructions(),
    serverInfo: () => client.getServerVersion(),
    listTools: async () => (await client.listTools()).tools,
    call: (name, args, options) =>
      client.callTool({ name, ...(args && { arguments: args }) }, options as object),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function capabilitiesOf({ person, kinds = { form: {}, url: {} } }: Target): { elicitation?: Kinds } {
  return person === undefined ? {} : { elicitation: kinds };
}

function oldTransport({ wire, port, key, permissions, process = processOf(permissions) }: Target) {
  if (wire === "stdio") return new OldStdioTransport({ ...process, stderr: "pipe" });
  const url = new URL(`http://127.0.0.1:${port}${wire}`);
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  return wire === "/mcp"
    ? new OldHttpTransport(url, { requestInit })
    : new OldSseTransport(url, { requestInit });
}

function newTransport({ wire, port, key, permissions, process = processOf(permissions) }: Target) {
  if (wire === "stdio") return new StdioClientTransport({ ...process, stderr: "pipe" });
  const url = new URL(`http://127.0.0.1:${port}${wire}`);
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  return wire === "/mcp"
    ? new StreamableHTTPClientTransport(url, { requestInit })
    : new SSEClientTransport(url, { requestInit });
}

export function processOf(permissions = "read,publish"): { command: string; args: string[] } {
  // Node 22 warns of its own SQLite where the other driver is not there; the program itself keeps that back.
  const quiet = "--disable-warning=ExperimentalWarning";
  return { command: process.execPath, args: [quiet, buildEntry(), permissions] };
}

/** A process with the small tools, to be spoken to by hand. */
export function startProcess(permissions?: string): ChildProcessByStdio<Writable, Readable, Readable> {
  const { command, args } = processOf(permissions);
  return spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
}

/** Each line as a note. */
export function follow(stream: Readable, notes: Notes | undefined): void {
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) notes?.add(line);
  });
}

/** A listing as MCP has it: without what only HTTP tells. */
export function asMcp({ permission: _permission, ...tool }: ToolListing): object {
  return tool;
}
