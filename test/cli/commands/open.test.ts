import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, type CliRun } from "../../support/cli.ts";
import { cookieOf, pageHeaders } from "../../support/page.ts";
import { send } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Runs `posthorn serve` on a free port until the visit is over. */
async function serve(
  env: Readonly<Record<string, string>>,
  visit: (server: { readonly port: number; readonly output: string }) => Promise<void>,
): Promise<CliRun> {
  let visited: Promise<void> | null = null;
  const run = await runCli(["serve"], {
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
