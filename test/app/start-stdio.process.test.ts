import { copyFileSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, inject, it } from "vitest";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Agent extends AsyncDisposable {
  readonly client: Client;
  call(tool: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

async function startAgent(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Agent> {
  const client = new Client({ name: "test", version: "1" });
  const command = { command: process.execPath, args: [inject("program"), "stdio", ...args] };
  await client.connect(new StdioClientTransport({ ...command, env: { POSTHORN_LOG_LEVEL: "warn", ...env } }));
  return {
    client,
    async call(tool, input = {}) {
      const answer = await client.callTool({ name: tool, arguments: input });
      expect(answer.isError ?? false).toBe(false);
      return answer.structuredContent as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe("posthorn stdio", () => {
  it("publishes while it runs", async () => {
    using folder = temporaryFolder();
    await using agent = await startAgent({ ...folder.env, POSTHORN_PORT: "0" });
    expect(agent.client.getInstructions()).toMatch(
      /only while this client is open.*posthorn service install/,
    );
    const { accounts } = (await agent.call("list_accounts")) as { accounts: { id: string }[] };
    const scheduled = (await agent.call("schedule_post", {
      accountId: accounts[0]!.id,
      caption: "From an agent",
    })) as {
      post: { id: string };
    };
    for (;;) {
      const { post } = (await agent.call("get_post", { id: scheduled.post.id })) as {
        post: { status: string; error: string | null };
      };
      expect(post.error).toBeNull();
      if (post.status === "published") break;
    }
  });

  it("says nothing of that where a server runs, and takes a picture of the person's", async () => {
    using folder = temporaryFolder();
    const setup = await readSetup({ ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "silent" });
    await using server = await startServer({
      setup,
      self: { host: "test", pid: process.pid },
      role: "serve",
    });
    const path = join(folder.path, "Downloads", "a.png");
    mkdirSync(join(path, ".."));
    copyFileSync(join(import.meta.dirname, "..", "fixtures", "photo.png"), path);
    await using agent = await startAgent({
      ...folder.env,
      POSTHORN_PUBLIC_URL: server.publicUrl,
      HOME: folder.path,
    });
    expect(agent.client.getInstructions()).not.toContain("only while this client is open");
    expect(await agent.call("upload_file", { path })).toMatchObject({ file: { type: "image" } });
  });

  it("answers addresses that lead somewhere, whoever has its port", async () => {
    using folder = temporaryFolder();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const taken = (other.address() as AddressInfo).port;
    await using agent = await startAgent({ ...folder.env, POSTHORN_PORT: String(taken) });
    const { url } = (await agent.call("connect_channel", { provider: "bluesky" })) as { url: string };
    expect(new URL(url).port).not.toBe(String(taken));
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("Bluesky");
    await new Promise((resolve) => other.close(resolve));
  });

  it("opens nothing where others serve its public address", async () => {
    using folder = temporaryFolder();
    await using agent = await startAgent({ ...folder.env, POSTHORN_PUBLIC_URL: "https://posts.example.com" });
    const { url } = (await agent.call("connect_channel", { provider: "bluesky" })) as { url: string };
    expect(url).toMatch(/^https:\/\/posts\.example\.com\/connect\//);
  });

  it("lists the tools for administrators to whoever asks for them", async () => {
    using folder = temporaryFolder();
    const namesOf = async (args: readonly string[]): Promise<string[]> => {
      await using agent = await startAgent(folder.env, args);
      return (await agent.client.listTools()).tools.map(({ name }) => name);
    };
    expect(await namesOf([])).not.toContain("create_webhook");
    expect(await namesOf(["--tools", "all"])).toContain("create_webhook");
  });

  it.each([
    ["--permissions", "read"],
    ["--role", "viewer"],
  ])("lets an agent that may only read do nothing else (%s %s)", async (...args) => {
    using folder = temporaryFolder();
    await using agent = await startAgent(folder.env, args);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toContain("list_posts");
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const answer = await agent.client.callTool({ name: "schedule_post", arguments: {} });
    expect(answer).toMatchObject({ isError: true });
  });
});
