import { describe, expect, it } from "vitest";
import { createContext } from "../../src/app/compose.ts";
import { registerWorker } from "../../src/publishing/workers.ts";
import { readSandboxSetup } from "../../src/app/setup.ts";
import { createMemoryLogger } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { report, times, TIMEOUT_MS } from "./report.ts";

const CLIENTS = 50;

/** Two servers on one data folder, as two processes would be. */
async function startServers(path: string): Promise<{ servers: TestServer[]; close(): Promise<void> }> {
  const closers: (() => Promise<void>)[] = [];
  const servers: TestServer[] = [];
  for (let n = 0; n < 2; n++) {
    const setup = await readSandboxSetup(path);
    const ctx = await createContext(setup, { log: createMemoryLogger() });
    const identity = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
    const hold = await registerWorker(ctx, identity, () => {});
    const server = await startTestServer(ctx, setup.catalog.tools);
    servers.push(server);
    closers.push(async () => {
      await server[Symbol.asyncDispose]();
      await hold.release();
      await ctx[Symbol.asyncDispose]();
    });
  }
  return {
    servers,
    async close() {
      for (const close of closers) await close();
    },
  };
}

describe("F14 one Idempotency-Key from 50 clients at once", { timeout: TIMEOUT_MS }, () => {
  it("makes one post; the others get the same answer, or 409 while it is made", async () => {
    const keys = times({ short: 4, long: 200 });
    using folder = temporaryFolder();
    const { servers, close } = await startServers(folder.path);
    const count = { created: 0, replayed: 0, refused: 0 };
    try {
      const [first] = servers;
      // One API key: each has idempotency keys of its own.
      const key = await first!.keyFor("default");
      const connected = await first!.ask("POST /api/v1/tools/connect_channel", {
        json: { provider: "feed" },
      });
      for (let n = 0; n < keys; n++) {
        const json = {
          accountId: connected.json.result.account.id,
          caption: `once ${n}`,
          scheduledAt: "2099-01-01T00:00:00Z",
        };
        const headers = { "Idempotency-Key": `key-${n}` };
        const answers = await Promise.all(
          Array.from({ length: CLIENTS }, (_, client) =>
            servers[client % 2]!.ask("POST /api/v1/posts", { key, json, headers }),
          ),
        );
        const made = answers.filter(({ status }) => status === 201);
        const refused = answers.filter(({ status }) => status === 409);
        expect(made.length + refused.length).toBe(CLIENTS);
        expect(new Set(made.map(({ json: body }) => body.post.id)).size).toBe(1);
        const fresh = made.filter(({ headers: own }) => own["idempotent-replayed"] !== "true");
        expect(fresh).toHaveLength(1);
        count.created += 1;
        count.replayed += made.length - 1;
        count.refused += refused.length;
      }
      const { posts } = (await first!.ask("GET /api/v1/posts?limit=500")).json;
      expect(posts).toHaveLength(keys);
    } finally {
      await close();
    }
    report({
      fault: "F14",
      how: `the same Idempotency-Key from ${CLIENTS} clients at once, over HTTP, on two servers of one data folder`,
      runs: `${keys} keys, ${keys * CLIENTS} requests`,
      seen: `${count.created} posts; ${count.replayed} replays, ${count.refused} times 409 while it was made`,
    });
  });
});
