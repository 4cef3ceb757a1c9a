import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { follow, Notes } from "../peers.ts";

const IDENTITY = { name: "test", version: "1.0.0" };

let folder: string;

/** The product as an agent's client starts it, in a folder and an environment full of what is not for it. */
const processOf = () => ({
  command: process.execPath,
  args: [inject("program"), "stdio"],
  cwd: folder,
  env: {
    PATH: process.env["PATH"] ?? "",
    DEBUG: "*",
    POSTHORN_DATA_DIR: join(folder, "data"),
    POSTHORN_LOG_LEVEL: "warn",
  },
  stderr: "pipe" as const,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthorn-mcp-"));
  await writeFile(join(folder, ".env"), "POSTHORN_PORT=not a port\nNODE_OPTIONS=--trace-warnings\n");
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("the product on standard streams", () => {
  it.each(["legacy", { pin: "2026-07-28" }] as const)(
    "schedules, finds and cancels a post for a new client (%o)",
    async (mode) => {
      const client = new Client(IDENTITY, { versionNegotiation: { mode } });
      const transport = new StdioClientTransport(processOf());
      const broken: Error[] = [];
      client.onerror = (error) => broken.push(error);
      await client.connect(transport);
      await walkThrough(
        async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent,
      );
      await client.close();
      // Whatever is no frame on standard output would be reported here.
      expect(broken).toEqual([]);
    },
  );

  it("does the same for a client of the older line, and warns of nothing with 64 calls in flight", async () => {
    const client = new OldClient(IDENTITY);
    const transport = new OldStdioTransport(processOf());
    const broken: Error[] = [];
    client.onerror = (error) => broken.push(error);
    const errors = new Notes();
    follow(transport.stderr as Readable, errors);
    await client.connect(transport);
    await walkThrough(
      async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent,
    );
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => client.callTool({ name: "list_accounts", arguments: {} })),
    );
    expect(answers.every((answer) => answer.isError !== true)).toBe(true);
    await client.close();
    expect(broken).toEqual([]);
    expect(errors.list).toEqual([]);
  });

  it("ends with its parent, though its input stays open", async () => {
    const { command, args, cwd, env } = processOf();
    const inherit = `require("node:child_process").spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: "inherit" })`;
    const parent = spawn(command, ["-e", inherit], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    const lines = new Notes();
    follow(parent.stdout, lines);
    parent.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await once(lines, "note");
    parent.kill("SIGKILL");
    await once(parent.stdout, "end");
  });
});

async function walkThrough(
  call: (name: string, args: Record<string, unknown>) => Promise<any>,
): Promise<void> {
  const { accounts } = await call("list_accounts", {});
  const body = { accountId: accounts[0].id, caption: "From an agent", scheduledAt: "2199-01-01T09:00:00Z" };
  const { post } = await call("schedule_post", body);
  expect(
    (await call("list_posts", { search: "agent", status: ["scheduled"] })).posts.map(
      (found: { id: string }) => found.id,
    ),
  ).toEqual([post.id]);
  expect((await call("cancel_post", { id: post.id })).post.status).toBe("cancelled");
}
