import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { runCli } from "../support/cli.ts";
import { send } from "../support/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const KEY = "a-key-of-32-characters-or-more-for-tests";
const TOKEN = "a-token-for-metrics";
const MACHINE = { host: "test", pid: process.pid };

type Server = Awaited<ReturnType<typeof startServer>>;
type Half = "api" | "publisher";

const folder = temporaryFolder();
const running: Server[] = [];

async function start(half: Half): Promise<Server> {
  const env = {
    ...folder.env,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_API_KEY: KEY,
    POSTHORN_METRICS_TOKEN: TOKEN,
  };
  const server = await startServer({ setup: await readSetup(env), self: MACHINE, role: "serve", half });
  running.push(server);
  return server;
}

async function stop(server: Server): Promise<void> {
  running.splice(running.indexOf(server), 1);
  await server[Symbol.asyncDispose]();
}

const asker =
  (server: Server) =>
  (target: string, rest: object = {}): ReturnType<typeof send> =>
    send(Number(new URL(server.address).port), target, { key: KEY, ...rest });

afterAll(async () => {
  for (const server of [...running]) await stop(server);
  folder[Symbol.dispose]();
});

describe("the two halves of a server", () => {
  let api: Server;
  let publisher: Server;

  beforeAll(async () => {
    [api, publisher] = [await start("api"), await start("publisher")];
  });

  it("publish together what the one took", async () => {
    const ask = asker(api);
    const { accounts } = (await ask("GET /api/v1/accounts")).json;
    const json = { accountId: accounts[0].id, caption: "From one half to the other" };
    const { post } = (await ask("POST /api/v1/posts", { json })).json;
    await expect
      .poll(async () => (await ask(`GET /api/v1/posts/${post.id}`)).json.post.status, { timeout: 10_000 })
      .toBe("published");
    expect((await ask("GET /api/v1/status")).json.publisher).toMatchObject({ running: true, workers: 1 });
  });

  it("serve what is theirs: the publisher's port has health and metrics alone", async () => {
    const ask = asker(publisher);
    for (const path of ["/healthz", "/readyz"]) expect((await ask(`GET ${path}`)).status).toBe(200);
    for (const path of ["/", "/api/v1/posts", "/api/v1/docs", "/mcp", "/sse", "/feed/x.json", "/connect/x"])
      expect([path, (await ask(`GET ${path}`)).status]).toEqual([path, 404]);
    expect((await ask("GET /metrics")).status).toBe(401);
    const metricsOf = async (server: Server): Promise<string> =>
      (await asker(server)("GET /metrics", { key: TOKEN })).text;
    expect(await metricsOf(publisher)).toMatch(/^posthorn_process_ready\{runs="publisher"\} 1$/m);
    expect(await metricsOf(api)).toMatch(/^posthorn_process_ready\{runs="api"\} 1$/m);
    expect(await metricsOf(api)).toMatch(/^posthorn_publishers 1$/m);
  });

  it("name the pages of the half that serves them", async () => {
    expect(await publisher.ctx.publicUrl()).toBe(await api.ctx.publicUrl());
    expect(await api.ctx.publicUrl()).toBe(api.publicUrl);
  });

  it("tell a person at the shell that a post waits when nothing that stays publishes", async () => {
    const call = async (idempotencyKey: string, day: string): Promise<string[]> => {
      const [accountId] = (await asker(api)("GET /api/v1/accounts")).json.accounts.map(
        (account: { id: string }) => account.id,
      );
      const args = {
        accountId,
        caption: idempotencyKey,
        scheduledAt: `${new Date().getUTCFullYear() + 1}-01-${day}T00:00:00Z`,
      };
      const run = await runCli(["call", "schedule_post", JSON.stringify(args)], { env: folder.env });
      return JSON.parse(run.stdout).warnings;
    };
    expect(await call("while one publishes", "01")).toEqual([]);
    await stop(publisher);
    expect((await asker(api)("GET /readyz")).status).toBe(200);
    expect((await asker(api)("GET /api/v1/status")).json.publisher).toMatchObject({
      running: false,
      workers: 0,
    });
    expect(await call("while none does", "02")).toEqual([
      expect.stringMatching(/^No Posthorn server is running/),
    ]);
  });
});

describe("posthorn serve", () => {
  it("runs one half or the other", async () => {
    const run = await runCli(["serve", "--api", "--publisher"], { env: folder.env });
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/--api.*cannot be used with.*--publisher/);
  });
});
