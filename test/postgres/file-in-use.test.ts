import { afterEach, beforeEach, expect, it } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import feed from "../../src/platforms/feed/index.ts";
import { schedulePosts } from "../../src/posts/schedule-post.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { rowsOf } from "../../src/store/engine/statements.ts";
import type { Store } from "../../src/store/engine/store.ts";
import type { Connections } from "../../src/store/postgres/connect/connections.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { createDatabase, openTestConnections } from "../support/postgres.ts";
import type { TestDatabase } from "../support/postgres-server.ts";
import { addAccount } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

/* Processes with a connection each that use the same files at the same moment. */

const PROCESSES = 4;
const LATER = "2099-01-01T09:00:00Z";

const platform = scriptedPlatform({
  capabilities: { ...TEXT_CAPABILITIES, media: feed.capabilities.media },
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
});

let database: TestDatabase;
let open: Connections[];
let processes: TestContext[];
let account: Tables["accounts"];

beforeEach(async () => {
  database = await createDatabase();
  open = await Promise.all(
    Array.from({ length: PROCESSES }, () => openTestConnections(database.url, { size: 1 })),
  );
  processes = await Promise.all(
    open.map((connections) =>
      createTestContext({
        store: { ...connections, counts: null } as unknown as Store,
        platformList: [platform],
        files: { remove: async () => {} } as never,
      }),
    ),
  );
  account = await addAccount(processes[0]!);
});
afterEach(async () => {
  await Promise.all(open.map((one) => one[Symbol.asyncDispose]()));
  await database[Symbol.asyncDispose]();
});

async function addFile(): Promise<string> {
  const id = newId("file");
  await queryOf(processes[0]!.store)
    .insertInto("files")
    .values({
      id,
      storage_key: `${"0".repeat(16)}/${id.slice("file_".length)}.png`,
      owner_id: account.owner_id,
      key_id: "local",
      name: "a.png",
      sha256: "0",
      mime_type: "image/png",
      type: "image",
      size_bytes: 1_000,
      width: 100,
      height: 100,
      is_animated: 0,
      status: "ready",
      created_at: 1,
      updated_at: 1,
    })
    .execute();
  return id;
}

const bodyWith = (mediaUrl: string) => ({
  accountId: account.id,
  caption: "x",
  mediaUrl,
  scheduledAt: LATER,
});

it("batches that use the same files in another order wait for each other, and never in a circle", async () => {
  const ids = [await addFile(), await addFile(), await addFile()];
  for (let round = 0; round < 20; round += 1) {
    const results = await Promise.all(
      processes.map((ctx, at) => {
        const posts = (at % 2 === 0 ? ids : ids.toReversed()).map(bodyWith);
        return schedulePosts(callOf(ctx), { posts });
      }),
    );
    expect(results.flatMap((one) => one.results).filter(({ error }) => error !== null)).toEqual([]);
  }
  expect(await countDeadlocks()).toBe(0);
});

/** Each connection tells what it counted. */
async function countDeadlocks(): Promise<number> {
  for (const { store } of processes) await rowsOf(store, "SELECT pg_stat_force_next_flush()", []);
  const [row] = await rowsOf<{ deadlocks: number }>(
    processes[0]!.store,
    "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    [],
  );
  return row!.deadlocks;
}
