import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, it } from "vitest";
import { startPublicServer, type PublicServer } from "../support/public-front.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plainEnvironment } from "../support/workspace.ts";

const MODULES = join(import.meta.dirname, "node_modules");
const NODE = join(MODULES, "node24/bin/node");
const MCP_REMOTE = join(MODULES, "mcp-remote/dist/proxy.js");

/** A client without OAuth of its own, through mcp-remote; `onQuestion` is the person's browser. */
async function listTools(
  server: PublicServer,
  home: string,
  onQuestion: (url: string) => Promise<void>,
): Promise<readonly string[]> {
  const env = { ...plainEnvironment(), HOME: home, NODE_EXTRA_CA_CERTS: server.certificate };
  const args = [MCP_REMOTE, `${server.origin}/mcp`, "--transport", "http-only"];
  const transport = new StdioClientTransport({ command: NODE, args, env: env as never, stderr: "pipe" });
  const lines = createInterface({ input: transport.stderr as Readable });
  lines.on("line", (line) => {
    const [url] = /https:\/\/\S+\/oauth\/authorize\?\S+/.exec(line) ?? [];
    if (url !== undefined) void onQuestion(url);
  });
  const client = new Client({ name: "behind mcp-remote", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

it("mcp-remote asks a person once, and is let in as a writer from then on", async () => {
  await using server = await startPublicServer();
  using home = temporaryFolder();
  const asked: string[] = [];
  const tools = await listTools(server, home.path, async (url) => {
    asked.push(url);
    if (asked.length > 1) return;
    const answer = await fetch(await server.allow(url));
    await answer.text();
    expect(answer.status).toBe(200);
  });
  expect(tools).toEqual(expect.arrayContaining(["list_posts", "save_draft"]));
  expect(tools).not.toContain("schedule_post");
  expect(new Set(asked.map((url) => new URL(url).searchParams.get("state"))).size).toBe(1);
  const again = await listTools(server, home.path, async (url) => void asked.push(url));
  expect(again).toEqual(tools);
  expect(new Set(asked).size).toBe(1);
});
