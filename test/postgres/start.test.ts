import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { rotateSecret } from "../../src/app/operations/rotate-secret.ts";
import { send } from "../support/http.ts";
import { createDatabase } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/* Hosts with a data folder each on one database, as `posthorn serve` starts them. */

const MACHINE = { host: "test", pid: process.pid };
const SECRET_KEY = randomBytes(32).toString("hex");

type Server = Awaited<ReturnType<typeof startServer>>;

let database: TestDatabase;
const shared = temporaryFolder();
const hosts = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
const running: Server[] = [];

const envOf = (host: number): Record<string, string> => ({
  ...hosts[host]!.env,
  POSTHORN_PORT: "0",
  POSTHORN_LOG_LEVEL: "silent",
  POSTHORN_FILES: "folder",
  DATABASE_URL: database.url,
  POSTHORN_SECRET_KEY: SECRET_KEY,
});

async function start(
  host: number,
  { env = {}, half }: { env?: Record<string, string>; half?: "api" | "publisher" } = {},
): Promise<Server> {
  const setup = await readSetup({ ...envOf(host), ...env });
  const server = await startServer({ setup, self: MACHINE, role: "serve", half });
  running.push(server);
  return server;
}

const stop = async (): Promise<void> => {
  for (const server of running.splice(0)) await server[Symbol.asyncDispose]();
};

beforeAll(async () => {
  database = await createDatabase({ isEmpty: true });
});
afterAll(async () => {
  await stop();
  await database[Symbol.asyncDispose]();
  for (const folder of [shared, ...hosts]) folder[Symbol.dispose]();
});

describe("hosts on one PostgreSQL", () => {
  let key = "";

  it("start for the first time together: one account, one key", async () => {
    const [a, b] = await Promise.all([start(0, { half: "api" }), start(1)]);
    const keys = [a.firstKey, b.firstKey].filter((one) => one !== null);
    expect(keys).toHaveLength(1);
    key = keys[0]!;
    for (const server of [a, b]) {
      const { accounts } = (await send(Number(new URL(server.address).port), "GET /api/v1/accounts", { key }))
        .json;
      expect(accounts).toHaveLength(1);
    }
  });

  it("publish what another has taken, and tell the same", async () => {
    const [a, b] = running;
    const askOf =
      (server: Server | undefined) =>
      (target: string, rest: object = {}) =>
        send(Number(new URL(server!.address).port), target, { key, ...rest });
    const { accounts } = (await askOf(a)("GET /api/v1/accounts")).json;
    const json = { accountId: accounts[0].id, caption: "From one host to the other" };
    const { post } = (await askOf(a)("POST /api/v1/posts", { json })).json;
    await expect
      .poll(async () => (await askOf(b)(`GET /api/v1/posts/${post.id}`)).json.post.status, {
        timeout: 15_000,
      })
      .toBe("published");
    expect((await askOf(a)("GET /api/v1/status")).json.publisher).toMatchObject({ workers: 1 });
    expect((await askOf(a)("GET /readyz")).status).toBe(200);
  });

  it("refuse another secret key with a sentence", async () => {
    const other = start(2, { env: { POSTHORN_SECRET_KEY: randomBytes(32).toString("hex") } });
    await expect(other).rejects.toThrow(
      /^POSTHORN_SECRET_KEY is not the secret key of this database, .* All hosts need the same key/,
    );
  });

  it("keep their secret key while they work, and get another one when nobody does", async () => {
    await expect(rotateSecret({ env: envOf(2), oldKeyFile: null })).rejects.toThrow(/work on this database/);
    await stop();
    const rotation = await rotateSecret({ env: envOf(2), oldKeyFile: join(shared.path, "old") });
    expect(rotation).toMatchObject({ unreadable: 0, newKeyFile: expect.stringContaining("secret.key.next") });
    await expect(start(0)).rejects.toThrow(/is not the secret key of this database/);
    const again = await start(0, {
      env: { POSTHORN_SECRET_KEY: "", POSTHORN_SECRET_KEY_FILE: rotation.newKeyFile! },
    });
    const { json } = await send(Number(new URL(again.address).port), "GET /api/v1/accounts", { key });
    expect(json.accounts[0]).toMatchObject({ status: "connected" });
  });
});
