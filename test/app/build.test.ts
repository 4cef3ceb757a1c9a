import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/catalog.ts";
import { describeTools } from "../../src/toolkit/toolbox.ts";
import { runCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");

/** Below `node_modules`, where the bundle finds the native packages that stay outside of it. */
const FOLDER = join(ROOT, "node_modules", ".cache", `posthorn-build-${process.pid}`);
const BUNDLE = join(FOLDER, "posthorn.js");

const build = () => run(process.execPath, ["--import", "tsx", "scripts/build.ts", FOLDER], { cwd: ROOT });

beforeAll(build, 120_000);

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("the bundle", () => {
  it("lists the tools that the source lists", async () => {
    using folder = temporaryFolder();
    const bundled = await run(BUNDLE, ["tools"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(bundled.stdout).toBe((await runCli(["tools"], folder)).stdout);
    expect(bundled.stderr).toBe("");
  });

  it.each(["risky", "always"] as const)(
    "lists over stdio what the source lists, with confirmation %s",
    async (confirm) => {
      using folder = temporaryFolder();
      const { tools } = await listTools({ ...folder.env, POSTHORN_CONFIRM: confirm, POSTHORN_TOOLS: "all" });
      const expected = describeTools((await loadCatalog()).tools, { confirm });
      expect(
        tools.map(({ inputSchema, outputSchema, annotations }) => ({
          inputSchema,
          outputSchema,
          annotations,
        })),
      ).toEqual(
        expected.map(({ inputSchema, outputSchema, annotations: { title: _title, ...annotations } }) => ({
          inputSchema,
          outputSchema,
          annotations,
        })),
      );
      expect(tools.map(({ name, title, description }) => [name, title, description])).toEqual(
        expected.map(({ name, title, description }) => [name, title, description]),
      );
    },
  );

  it("knows the settings of each platform before it loads any", async () => {
    using folder = temporaryFolder();
    const env = { PATH: process.env["PATH"], ...folder.env, POSTHORN_BLUESKY_BASE_URI: "https://a.example" };
    const child = spawn(BUNDLE, ["stdio"], { env });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(stderr).toContain("POSTHORN_BLUESKY_BASE_URI: no such setting.");
    expect(stderr).toContain("The settings of the platform bluesky are POSTHORN_BLUESKY_BASE_URL, ");
    expect(status).toBe(1);
  });

  it("tells why it ends when the service behind the list cannot be opened", async () => {
    using folder = temporaryFolder();
    await run(BUNDLE, ["tools"], { env: { PATH: process.env["PATH"], ...folder.env } });
    writeFileSync(join(folder.path, "data", "secret.key"), `${"0".repeat(64)}\n`);
    const child = spawn(BUNDLE, ["stdio"], { env: { PATH: process.env["PATH"], ...folder.env } });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(stderr).toContain("secret.key does not belong to this database");
    expect(status).toBe(1);
  });

  it("publishes in a thread beside the API, and ends with what is under way written down", async () => {
    using folder = temporaryFolder();
    const env = { PATH: process.env["PATH"], ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "warn" };
    const child = spawn(BUNDLE, ["serve"], { env });
    const [stderr, ended] = [text(child.stderr), once(child, "exit")];
    await once(child.stdout, "data");
    const post = async (): Promise<{ status: string }[]> =>
      JSON.parse((await run(BUNDLE, ["call", "list_posts"], { env })).stdout).posts;
    const { accounts } = JSON.parse((await run(BUNDLE, ["call", "list_accounts"], { env })).stdout);
    await run(
      BUNDLE,
      ["call", "schedule_post", JSON.stringify({ accountId: accounts[0].id, caption: "From a thread" })],
      { env },
    );
    await expect
      .poll(post, { timeout: 20_000, interval: 500 })
      .toMatchObject([{ status: "published", caption: "From a thread" }]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(await stderr).toBe("Posthorn is stopping; what is under way is finished first.\n");
  });

  it("has the platforms, and pictures, too", async () => {
    using folder = temporaryFolder();
    const demo = await run(BUNDLE, ["demo", "--exit"], { env: { PATH: process.env["PATH"], ...folder.env } });
    expect(demo.stdout).toMatch(/✔ +[\d.]+ s {2}published/);
    const { stdout } = await run(BUNDLE, ["call", "list_platforms"], {
      env: { PATH: process.env["PATH"], ...folder.env },
    });
    expect(stdout).toBe((await runCli(["call", "list_platforms"], folder)).stdout);
  });
});

describe("a build into the folder of another one", () => {
  it("leaves the chunks that both have, and takes away those of the other alone", async () => {
    const chunks = join(FOLDER, "chunks");
    const before = readdirSync(chunks);
    writeFileSync(join(chunks, "stale-AAAAAAAA.js"), "");
    await build();
    expect(readdirSync(chunks)).toEqual(before);
    expect(statSync(BUNDLE).mode & 0o777).toBe(0o755);
  });

  it("carries the licences that libraries ask to be shown", () => {
    const texts = readdirSync(join(FOLDER, "chunks")).map((name) =>
      readFileSync(join(FOLDER, "chunks", name), "utf8"),
    );
    expect(texts.join("\n")).toMatch(/Bundled license information:[^]*Copyright/);
  });
});

async function listTools(env: Readonly<Record<string, string>>) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: BUNDLE, args: ["stdio"], env }));
  try {
    return await client.listTools();
  } finally {
    await client.close();
  }
}
