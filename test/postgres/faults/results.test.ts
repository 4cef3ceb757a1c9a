import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { systemClock } from "../../../src/app/system-clock.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { buildWorker } from "../../faults/fault-runner.ts";
import { addDuePosts, collectThrough, POINTS } from "../../faults/killed-results.ts";
import { createDatabaseOn, startPostgres, type PostgresServer } from "../../support/postgres-server.ts";

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("results-worker", join(import.meta.dirname, "../../faults"));
  server = await startPostgres({ isDurable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("kill -9 while two hosts on one PostgreSQL collect figures", { timeout: 120_000 }, () => {
  // The same places are tried on SQLite with more hits of each.
  it.each(POINTS.filter((point) => !/[24]$/.test(point)))(
    "%s: each snapshot is stored once",
    async (point) => {
      const folder = await mkdtemp(join(tmpdir(), "posthorn-results-"));
      await using database = await createDatabaseOn(server.address);
      await using store = await openStore({ url: database.url, clock: systemClock });
      try {
        await addDuePosts(store);
        await collectThrough(store, { worker, database: database.url, log: join(folder, "asked"), point });
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});
