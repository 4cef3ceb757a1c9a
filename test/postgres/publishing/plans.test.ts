import pg from "pg";
import { expect, it } from "vitest";
import { createDatabase } from "../../support/postgres.ts";
import { drain, fillQueue, publish } from "../../support/queue.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";

const DUE_AT = Date.parse("2026-11-21T09:00:00Z");
const now = (): number => DUE_AT + 60_000;

interface Reads {
  readonly name: string;
  readonly rows: number;
}

// What the server counts, and not what EXPLAIN tells of a statement: prepared ones change their plans.
it("goes by the indexes meant for it while the statistics take the queue for empty", async () => {
  await using database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const old = await openStoreOn(database.url);
  await client.query("ALTER TABLE posts SET (autovacuum_enabled = off)");
  await fillQueue(old, { accounts: 400, posts: 20_000, dueAt: 1, status: "published", prefix: "old_" });
  await client.query("ANALYZE");
  await fillQueue(old, { accounts: 200, posts: 500, dueAt: DUE_AT });
  await old[Symbol.asyncDispose]();
  await client.query("SELECT pg_stat_force_next_flush()");
  await client.query("SELECT pg_stat_reset()");

  const store = await openStoreOn(database.url);
  let left = 500;
  await drain(store, {
    workerId: "worker_a",
    now,
    room: 400,
    batch: 100,
    isOver: () => left === 0,
    work: async (claimed) => {
      await publish(store, claimed, { now });
      left -= 1;
    },
  });
  // With their connections the processes of the server hand in what they counted.
  await store[Symbol.asyncDispose]();
  await expect.poll(async () => (await readsOf(client)).posts_pkey ?? 0).toBeGreaterThan(500);
  const reads = await readsOf(client);
  const scans = await client.query<Reads>(
    "SELECT relname AS name, seq_tup_read::int AS rows FROM pg_stat_user_tables WHERE relname IN ('posts', 'effects', 'attempts')",
  );
  await client.end();
  const scanned = Object.fromEntries(scans.rows.map(({ name, rows }) => [name, rows]));
  expect(scanned.posts).toBe(0);
  // Read as a whole only while they are a few pages long.
  expect(scanned.effects).toBeLessThan(500 * 100);
  expect(scanned.attempts).toBeLessThan(500 * 100);
  const used = Object.keys(reads).filter((name) => name.startsWith("posts_"));
  expect(used.toSorted()).toEqual(["posts_claim", "posts_pkey"]);
  // A claim looks at the first of each of 200 accounts twice. Walked once a row, it would be some millions.
  expect(reads.posts_claim).toBeLessThan(500 * 200);
}, 60_000);

async function readsOf(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<Reads>(
    "SELECT indexrelname AS name, idx_tup_read::int AS rows FROM pg_stat_user_indexes WHERE idx_tup_read > 0",
  );
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}
