import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, type CliRun } from "../../support/cli.ts";
import { openSqlite } from "../../../src/store/local/driver.ts";
import { cookieOf, pageHeaders } from "../../support/page.ts";
import { send } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Runs `posthorn serve` on a free port until the visit is over. */
async function serve(
  env: Readonly<Record<string, string>>,
  visit: (server: { readonly port: number; readonly output: string }) => Promise<void>,
  pid = process.pid,
): Promise<CliRun> {
  let visited: Promise<void> | null = null;
  const run = await runCli(["serve"], {
    pid,
    env: { POSTHORN_PORT: "0", ...env },
    onOutput(output, stop) {
      const port = Number(/listening on \S+:(\d+)/.exec(output)?.[1]);
      if (Number.isNaN(port) || !output.includes("Data folder")) return;
      visited ??= visit({ port, output }).finally(stop);
    },
  });
  await visited;
  return run;
}

const ADDRESS = /http:\/\/localhost:\d+\/app\/sign-in#([\w-]{43})/;

describe("posthorn open", () => {
  it("prints an address that signs in to the server that runs, once", async () => {
    using folder = temporaryFolder();
    await serve(folder.env, async ({ port }) => {
      const screen = await runCli(["open"], { env: folder.env, columns: 80 });
      expect([screen.status, screen.stdout]).toEqual([0, expect.stringMatching(ADDRESS)]);
      expect(screen.stderr).toBe("Open this address. It signs you in once, within 10 minutes.\n");
      const piped = await runCli(["open"], { env: folder.env });
      expect([piped.stdout.trim(), piped.stderr]).toEqual([new URL(piped.stdout).href, ""]);
      const { stdout } = await runCli(["open", "--json"], { env: folder.env });
      const { url, expiresAt } = JSON.parse(stdout);
      expect(new URL(url).port).toBe(String(port));
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
      const post = () =>
        send(port, "POST /app/api/session", {
          headers: pageHeaders(port),
          json: { token: new URL(url).hash.slice(1) },
        });
      const answer = await post();
      expect([answer.status, cookieOf(answer)]).toEqual([201, expect.stringMatching(/^posthorn_page=/)]);
      expect((await post()).status).toBe(401);
    });
  });

  it("names the server that lives when another one on the data folder has ended", async () => {
    using folder = temporaryFolder();
    const open = async () => new URL((await runCli(["open"], folder)).stdout).port;
    await serve(folder.env, async (first) => {
      const second = await serve(
        folder.env,
        async ({ port, output }) => {
          expect(await open()).toBe(String(port));
          expect(output).toContain(`served already at http://localhost:${first.port}:`);
        },
        process.pid + 1,
      );
      expect(second.status).toBe(0);
      expect(await open()).toBe(String(first.port));
      const link = await runCli(["calendar-link"], folder);
      expect(new URL(link.stdout).port).toBe(String(first.port));
      const { stdout } = await runCli(["status"], { ...folder, columns: 80 });
      expect(stdout).toContain(`Server        http://localhost:${first.port}\n`);
      expect(first.output).not.toContain("served already");
    });
  });

  it("names no server that was killed, however young its last sign of life is", async () => {
    using folder = temporaryFolder();
    await runCli(["list"], folder);
    const { database } = openSqlite({ file: join(folder.path, "data", "posthorn.db"), busyTimeoutMs: 0 });
    const now = Date.now();
    const killed = { id: "wrk_killed", role: "serve", host: "here", pid: 4, version: "0", at: now };
    // What a kill leaves: its row and its address, and no lock.
    database
      .prepare(
        "INSERT INTO workers (id, role, host, pid, version, started_at, heartbeat_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      )
      .run([killed.id, killed.role, killed.host, killed.pid, killed.version, killed.at, killed.at]);
    database
      .prepare("INSERT INTO meta (key, value) VALUES (?, ?)")
      .run(["server_url here 4", "http://localhost:1"]);
    database.close();
    const { status, stderr } = await runCli(["open"], folder);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^No server runs on this data folder/)]);
    const { stdout } = await runCli(["status"], { ...folder, columns: 80 });
    expect(stdout).toMatch(/Posts go out +no: nothing publishes.*\nServer +none runs\n/);
  });

  it("says how to start a server where none runs", async () => {
    using folder = temporaryFolder();
    const { status, stdout, stderr } = await runCli(["open"], { env: folder.env });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^No server runs on this data folder.*posthorn serve/);
  });

  it("says so where the page is off", async () => {
    using folder = temporaryFolder();
    const off = { ...folder.env, POSTHORN_PAGE: "off" };
    await serve(off, async ({ port, output }) => {
      expect(output).not.toContain("/app");
      expect((await send(port, "GET /app", { headers: { Accept: "text/html" } })).status).toBe(404);
      const { status, stderr } = await runCli(["open"], { env: off });
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^There is no page: POSTHORN_PAGE is off/)]);
    });
  });
});

describe("posthorn serve", () => {
  it("prints an address that signs in, and says no other token", async () => {
    using folder = temporaryFolder();
    const tokens: string[] = [];
    const env = { POSTHORN_DATA_DIR: join(folder.path, "data") };
    const run = await serve(env, async ({ port, output }) => {
      const token = ADDRESS.exec(output)?.[1] ?? "";
      const answer = await send(port, "POST /app/api/session", {
        headers: pageHeaders(port),
        json: { token },
      });
      expect(answer.status).toBe(201);
      tokens.push(token, cookieOf(answer).split("=")[1] ?? "");
      for (const target of ["GET /app/api/session", "POST /app/api/tools/get_status"]) {
        const headers = { ...pageHeaders(port), Cookie: cookieOf(answer) };
        const asked = await send(port, target, { headers, json: {} });
        expect([asked.status, asked.text]).toEqual([200, expect.not.stringContaining(tokens[1] ?? "")]);
      }
    });
    expect(tokens.every((token) => token.length === 43)).toBe(true);
    for (const token of tokens) expect(run.stderr).not.toContain(token);
    expect(run.stdout).not.toContain(tokens[1]);
  });
});
