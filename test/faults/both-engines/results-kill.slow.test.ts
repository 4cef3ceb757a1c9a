import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { buildWorker } from "../fault-runner.ts";
import { addDuePosts, collectThrough, POINTS } from "../killed-results.ts";
import { createSharedDatabase } from "../shared-database.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("results-worker");
});

describe("kill -9 while two processes collect figures", { timeout: 120_000 }, () => {
  it.each(POINTS)("%s: each snapshot is stored once", async (point) => {
    await using database = await createSharedDatabase();
    await using store = await database.open();
    await addDuePosts(store);
    const { place, folder } = database;
    await collectThrough(store, { worker, database: place, log: join(folder, "asked"), point });
  });
});
