import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { freshDatabase } from "../support/fresh-schema.ts";
import { buildWorker } from "./fault-runner.ts";
import { addDuePosts, collectThrough, POINTS } from "./killed-results.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("results-worker");
});

describe("kill -9 while two processes collect figures", { timeout: 60_000 }, () => {
  it.each(POINTS)("%s: each snapshot is stored once", async (point) => {
    const folder = await mkdtemp(join(tmpdir(), "posthorn-results-"));
    const database = join(folder, "posthorn.db");
    try {
      await writeFile(database, await freshDatabase());
      await using store = await openStore({ file: database });
      await addDuePosts(store);
      await collectThrough(store, { worker, database, log: join(folder, "asked"), point });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
