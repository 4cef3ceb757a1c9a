import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createContext } from "../../../src/app/compose.ts";
import { readSetup } from "../../../src/app/setup.ts";
import { registerWorker } from "../../../src/publishing/workers.ts";
import { report, times, TIMEOUT_MS } from "../../faults/report.ts";
import { createMemoryLogger } from "../../support/context.ts";
import { startTestServer, type TestServer } from "../../support/http.ts";
import { createDatabaseOn, startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const KEYS = times({ short: 3, long: 200 });
const CLIENTS = 50;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ isDurable: true });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Host extends AsyncDisposable {
  readonly http: TestServer;
}

/** A host with a folder of its own. */
async function startHost(url: string, secretKey: string): Promise<Host> {
  const folder = temporaryFolder();
  const setup = await readSetup({
    POSTHORN_DATA_DIR: folder.path,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_SECRET_KEY: secretKey,
    POSTHORN_FILES: "folder",
    DATABASE_URL: url,
  });
  const ctx = await createContext(setup, { log: createMemoryLogger() });
  const identity = { role: "serve", host: folder.path, pid: process.pid, version: "0" } as const;
  const hold = await registerWorker(ctx, identity, () => {});
  const http = await startTestServer(ctx, setup.catalog.tools);
  return {
    http,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      await hold.release();
      await ctx[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

it(
  `one Idempotency-Key from ${CLIENTS} clients of two hosts makes one post`,
  async () => {
    await using database = await createDatabaseOn(server.address);
    const secretKey = randomBytes(32).toString("hex");
    await using one = await startHost(database.url, secretKey);
    await using two = await startHost(database.url, secretKey);
    const hosts = [one.http, two.http] as const;
    // One API key: each has idempotency keys of its own.
    const key = await one.http.keyFor("default");
    const connected = await one.http.ask("POST /api/v1/tools/connect_channel", {
      json: { provider: "feed" },
    });
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
          hosts[client % 2 === 0 ? 0 : 1].ask("POST /api/v1/posts", { key, json, headers }),
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
    const { posts } = (await two.http.ask("GET /api/v1/posts?limit=500")).json;
    expect(posts).toHaveLength(KEYS);
    console.log(JSON.stringify(count));
    report({
      fault: "F14",
      how: `PostgreSQL: the same Idempotency-Key from ${CLIENTS} clients at once, over HTTP, on two hosts`,
      runs: `${KEYS} keys, ${KEYS * CLIENTS} requests`,
      seen: `${KEYS} posts; ${count.replayed} replays, ${count.refused} times 409 while it was made`,
    });
  },
  TIMEOUT_MS,
);
