import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSqlite } from "../../../src/store/local/driver.ts";
import { runCli, type CliRun } from "../../support/cli.ts";
import { EARLY_SCHEMA, makeEarlyDatabase } from "../../support/early-database.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type Visit = (server: { readonly address: string; readonly output: string }) => Promise<void>;

/** Runs `posthorn serve` on a free port until the visit is over. */
async function serve(env: Readonly<Record<string, string>>, visit: Visit): Promise<CliRun> {
  let visited: Promise<void> | null = null;
  const run = await runCli(["serve"], {
    env: { POSTHORN_PORT: "0", ...env },
    onOutput(output, stop) {
      const address = /listening on (\S+)/.exec(output)?.[1];
      if (address === undefined || !output.includes("Data folder")) return;
      visited ??= visit({ address, output }).finally(stop);
    },
  });
  await visited;
  return run;
}

async function statusOf(url: string, key?: string): Promise<number> {
  const response = await fetch(url, key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } });
  await response.text();
  return response.status;
}

describe("posthorn serve", () => {
  it("makes a key at its first start, and at no other", async () => {
    using folder = temporaryFolder();
    let key = "";
    const first = await serve(folder.env, async ({ address, output }) => {
      key = /phk_\w+/.exec(output)?.[0] ?? "";
      expect(await statusOf(`${address}/api/v1/accounts`, key)).toBe(200);
      expect(await statusOf(`${address}/api/v1/accounts`, `${key}0`)).toBe(401);
      const feed = /^ {2}Your feed +(\S+)$/m.exec(output)?.[1] ?? "";
      expect(await statusOf(feed)).toBe(200);
    });
    expect(first.status).toBe(0);
    const file = join(folder.path, "data", "api.key");
    expect(readFileSync(file, "utf8")).toBe(`${key}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const second = await serve(folder.env, async ({ address }) =>
      expect(await statusOf(`${address}/api/v1/accounts`, key)).toBe(200),
    );
    expect(second.stdout).not.toContain("phk_");
    expect(second.stdout).toContain(`  API key      kept in ${file}\n`);
  });

  it("keeps a copy of an older database, and says so, as other commands do", async () => {
    using folder = temporaryFolder();
    for (const name of ["served", "listed"]) {
      const data = join(folder.path, name);
      mkdirSync(data, { mode: 0o700 });
      makeEarlyDatabase(join(data, "posthorn.db"));
    }
    const said = (name: string) =>
      new RegExp(
        `The database was brought from schema ${EARLY_SCHEMA} to \\d+\\. A copy of it as it was is kept in ${join(folder.path, name)}/posthorn\\.db\\.schema-${EARLY_SCHEMA}-\\S+\\.\n`,
      );
    const { stdout } = await serve({ POSTHORN_DATA_DIR: join(folder.path, "served") }, async () => {});
    expect(stdout).toMatch(said("served"));
    const listed = { POSTHORN_DATA_DIR: join(folder.path, "listed") };
    expect((await runCli(["keys", "list"], { env: listed })).stderr).toMatch(said("listed"));
    expect((await runCli(["keys", "list"], { env: listed })).stderr).toBe("");
  });

  it("tells the other processes on its data folder where it is reached", async () => {
    using folder = temporaryFolder();
    const link = async (env: Readonly<Record<string, string>> = {}): Promise<string> =>
      new URL((await runCli(["calendar-link"], { env: { ...folder.env, ...env } })).stdout).origin;
    const PUBLIC = { POSTHORN_PUBLIC_URL: "https://posts.example" };
    await serve(folder.env, async ({ address }) => {
      expect(await link()).toBe(address.replace("127.0.0.1", "localhost"));
      expect(await link(PUBLIC)).toBe("https://posts.example");
    });
    expect(await link()).toBe("http://localhost:4747");
    await serve({ ...folder.env, ...PUBLIC }, async () => expect(await link()).toBe("https://posts.example"));
  });

  it("says so where the port is its own already", async () => {
    using folder = temporaryFolder();
    await serve(folder.env, async ({ address }) => {
      const POSTHORN_PORT = new URL(address).port;
      const again = await runCli(["serve"], { env: { ...folder.env, POSTHORN_PORT } });
      expect(again.status).toBe(1);
      expect(again.stderr).toMatch(/^Port \d+ on 127\.0\.0\.1 is taken .* Posthorn serves this data folder/);
    });
  });

  it("takes port and address from the command line before the settings, and says what is wrong with them", async () => {
    using folder = temporaryFolder();
    const env = { ...folder.env, POSTHORN_PORT: "1", POSTHORN_HOST: "192.0.2.1" };
    const run = await runCli(["serve", "--port", "0", "--host", "127.0.0.1"], {
      env,
      onOutput: (output, stop) => void (output.includes("Data folder") && stop()),
    });
    expect(run).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/listening on http:\/\/127\.0\.0\.1:\d+\n/),
    });
    expect(await runCli(["serve", "--port", "http"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("POSTHORN_PORT: must be a port number"),
    });
  });

  it("needs no key of its own where one is set", async () => {
    using folder = temporaryFolder();
    const POSTHORN_API_KEY = "a-fixed-key-of-forty-characters-or-so-00";
    const run = await serve({ ...folder.env, POSTHORN_API_KEY }, async ({ address }) => {
      expect(await statusOf(`${address}/api/v1/accounts`, POSTHORN_API_KEY)).toBe(200);
    });
    expect(run.stdout).not.toContain("API key");
    expect(run.stdout + run.stderr).not.toContain(POSTHORN_API_KEY);
  });

  it("is ready once it publishes, and serves every face", async () => {
    using folder = temporaryFolder();
    await serve(folder.env, async ({ address }) => {
      for (const path of ["/healthz", "/readyz", "/api/v1/openapi.json", "/api/v1/docs"])
        expect(await statusOf(address + path)).toBe(200);
      for (const path of ["/mcp", "/sse", "/api/v1/posts"]) expect(await statusOf(address + path)).toBe(401);
    });
  });

  it("says that its port is taken, and publishes nothing", async () => {
    using folder = temporaryFolder();
    await using other = await listen();
    const run = await runCli(["serve"], { env: { ...folder.env, POSTHORN_PORT: String(other.port) } });
    expect(run).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Port \d+ on 127\.0\.0\.1 is taken .*\n$/),
    });
  });

  it("refuses a database of a newer version, and leaves it as it is", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "data", "posthorn.db");
    mkdirSync(join(folder.path, "data"));
    const { database } = openSqlite({ file, busyTimeoutMs: 0 });
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA user_version = 999");
    database.close();
    const before = hashOf(file);
    const run = await runCli(["serve"], folder);
    expect(run).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^The database was written by a newer Posthorn.*\n$/),
    });
    expect(hashOf(file)).toBe(before);
  });

  it("refuses what is no database, and a folder that cannot be written", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "data"));
    writeFileSync(
      join(folder.path, "data", "posthorn.db"),
      "This is a letter to my aunt, and nothing else. ".repeat(50),
    );
    expect(await runCli(["serve"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("is not a SQLite database"),
    });
    const env = { POSTHORN_DATA_DIR: join(folder.path, "data", "posthorn.db", "below") };
    expect(await runCli(["serve"], { env })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The data folder .* cannot be used: .*\n$/),
    });
  });

  it("refuses a secret key that is not the database's", async () => {
    using folder = temporaryFolder();
    await runCli(["call", "list_accounts"], folder);
    writeFileSync(join(folder.path, "data", "secret.key"), `${"ab".repeat(32)}\n`);
    expect(await runCli(["serve"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("does not belong to this database"),
    });
  });
});

function hashOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

async function listen(): Promise<{ readonly port: number } & AsyncDisposable> {
  // It is asked whether it is Posthorn.
  const server = createServer((socket) => void socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
