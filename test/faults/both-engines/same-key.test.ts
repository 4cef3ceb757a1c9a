import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createContext } from "../../../src/app/compose.ts";
import { readSetup } from "../../../src/app/setup.ts";
import { registerWorker } from "../../../src/publishing/workers.ts";
import { createMemoryLogger, isOnPostgres } from "../../support/context.ts";
import { startTestServer } from "../../support/http.ts";
import { createDatabaseOn, startPostgres } from "../../support/postgres-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { report, times, TIMEOUT_MS } from "../report.ts";

const KEYS = times({ short: 4, long: 200 });
const CLIENTS = 50;

/** Two servers on one data folder, as two processes would be; or two hosts on one database, each with its folder. */
async function startServers() {
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const server = isOnPostgres ? await startPostgres({ isDurable: true }) : null;
  const ofHosts =
    server === null
      ? {}
      : {
          DATABASE_URL: (await createDatabaseOn(server.address)).url,
          POSTHORN_SECRET_KEY: randomBytes(32).toString("hex"),
          POSTHORN_FILES: "folder",
        };
  const start = async (folder: string) => {
    const env = { POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "silent", POSTHORN_DATA_DIR: folder, ...ofHosts };
    const setup = await readSetup(env);
    const ctx = await createContext(setup, { log: createMemoryLogger() });
    const identity = { role: "serve", host: folder, pid: process.pid, version: "0" } as const;
    const hold = await registerWorker(ctx, identity, () => {});
    const http = await startTestServer(ctx, setup.catalog.tools);
    const close = async (): Promise<void> => {
      await http[Symbol.asyncDispose]();
      await hold.release();
      await ctx[Symbol.asyncDispose]();
    };
    return { http, close };
  };
  const one = await start(folders[0].path);
  const two = await start(folders[isOnPostgres ? 1 : 0].path);
  return {
    one: one.http,
    two: two.http,
    async [Symbol.asyncDispose]() {
      await one.close();
      await two.close();
      await server?.[Symbol.asyncDispose]();
      for (const folder of folders) folder[Symbol.dispose]();
    },
  };
}

describe("F14 one Idempotency-Key from 50 clients at once", { timeout: TIMEOUT_MS }, () => {
  it("makes one post; the others get the same answer, or 409 while it is made", async () => {
    await using servers = await startServers();
    const { one, two } = servers;
    // One API key: each has idempotency keys of its own.
    const key = await one.keyFor("default");
    const connected = await one.ask("POST /api/v1/tools/connect_channel", { json: { provider: "feed" } });
    const count = { replayed: 0, refused: 0 };
    for (let n = 0; n < KEYS; n++) {
      const json = {
        accountId: connected.json.result.account.id,
        caption: `once ${n}`,
        scheduledAt: "2099-01-01T00:00:00Z",
      };
      const headers = { "Idempotency-Key": `key-${n}` };
      const answers = await Promise.all(
        Array.from({ length: CLIENTS }, (_, client) =>
          (client % 2 === 0 ? one : two).ask("POST /api/v1/posts", { key, json, headers }),
        ),
      );
      const made = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status }) => status === 409);
      expect(made.length + refused.length).toBe(CLIENTS);
      expect(new Set(made.map(({ json: body }) => body.post.id)).size).toBe(1);
      expect(made.filter(({ headers: own }) => own["idempotent-replayed"] !== "true")).toHaveLength(1);
      count.replayed += made.length - 1;
      count.refused += refused.length;
    }
    const { posts } = (await two.ask("GET /api/v1/posts?limit=500")).json;
    expect(posts).toHaveLength(KEYS);
    const where = isOnPostgres ? "two hosts" : "two servers of one data folder";
    report({
      fault: "F14",
      how: `the same Idempotency-Key from ${CLIENTS} clients at once, over HTTP, on ${where}`,
      runs: `${KEYS} keys, ${KEYS * CLIENTS} requests`,
      seen: `${KEYS} posts; ${count.replayed} replays, ${count.refused} times 409 while it was made`,
    });
  });
});
