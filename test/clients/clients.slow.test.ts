import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startBuiltServer, type BuiltServer } from "../support/built-server.ts";
import { plainEnvironment } from "../support/workspace.ts";

/** Each client with the transports that it has; what each does stands in sessions/. */
const CLIENTS = [
  ["ai-sdk", ["stdio", "http", "sse"]],
  ["inspector", ["stdio", "http", "sse"]],
  ["langchain", ["stdio", "http", "sse"]],
  ["mastra", ["stdio", "http"]],
  ["mcp-remote", ["http", "sse", "modern"]],
  ["mcporter", ["stdio", "http", "sse"]],
  ["openai-agents", ["stdio", "http", "sse"]],
  ["supergateway", ["http", "sse", "stdioToHttp", "stdioToSse", "stdioToWebSocket"]],
] as const;

const MODULES = join(import.meta.dirname, "node_modules");
const NODE = join(MODULES, "node24/bin/node");
const INSPECTOR = join(MODULES, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const MCP_REMOTE = join(MODULES, "mcp-remote/dist/proxy.js");

const PROGRAM = inject("program");
let server: BuiltServer;

beforeAll(async () => {
  server = await startBuiltServer(PROGRAM);
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** Runs a program of the workspace on its Node, and keeps what it remembers in the server's folder. */
function run(args: readonly string[]): Promise<{ status: unknown; stdout: string; stderr: string }> {
  const env = { ...plainEnvironment(), HOME: server.env["POSTHORN_DATA_DIR"] };
  return new Promise((resolve) => {
    execFile(NODE, [...args], { env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, stdout, stderr }),
    );
  });
}

describe.concurrent.each(CLIENTS)("%s", (client, transports) => {
  it.each(transports)("connects over %s, lists, schedules, sees, and is told why not", async (transport) => {
    const { origin, key } = server;
    const stdio = { command: process.execPath, args: [PROGRAM, "stdio"], env: server.env };
    const asked = JSON.stringify({ client, transport, origin, key, ...stdio });
    const { stdout, stderr } = await run([join(import.meta.dirname, "story.mjs"), asked]);
    expect(stdout, stderr).not.toBe("");
    const { tools, post, shown, refused } = JSON.parse(stdout);
    expect(tools).toEqual(expect.arrayContaining(["list_accounts", "schedule_post", "upload_file"]));
    expect(shown).toMatchObject({ ...post, status: "scheduled" });
    expect(refused).toEqual({
      isError: true,
      text: expect.stringMatching(/scheduledAt: \S+ is in the past\. .* Give a time in the future\./),
    });
  });
});

/** What the official inspector looks at beyond a call: it ends with another status where it has objections. */
const INSPECTIONS = [
  ["--method", "tools/list", "--strict"],
  ["--method", "tools/call", "--tool-name", "show_calendar", "--app-info"],
  ["--method", "resources/list"],
  ["--method", "resources/templates/list"],
  ["--method", "prompts/list"],
];

it.concurrent.each(INSPECTIONS.map((inspection) => [inspection]))(
  "the inspector has nothing to say to %j",
  async (inspection) => {
    const at = ["--transport", "http", "--server-url", `${server.origin}/mcp`];
    const { status, stdout, stderr } = await run([
      ...[INSPECTOR, "--cli", ...inspection, ...at],
      ...["--header", `Authorization: Bearer ${server.key}`],
    ]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toBeTypeOf("object");
  },
);

/** It takes a missing key for a wish to sign in, and shows what it is answered then. */
it("a person who forgot the key reads in mcp-remote what to do", async () => {
  const answer = await server.ask("POST /register", { body: Buffer.from("{}") });
  expect(answer).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining("Authorization: Bearer") },
  });
  const { status, stderr } = await run([MCP_REMOTE, `${server.origin}/mcp`, "--transport", "http-only"]);
  expect(status).toBe(1);
  expect(stderr).toContain(answer.body.error);
});
