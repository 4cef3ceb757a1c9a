import pg from "pg";
import { expect, it } from "vitest";
import { createDatabase } from "../../support/postgres.ts";
import { drain, enlist, fillQueue, publish, wishOf } from "../../support/postgres-queue.ts";
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
  await fillQueue(old, { accounts: 400, posts: 2_000, dueAt: DUE_AT });
  await old[Symbol.asyncDispose]();
  await client.query("SELECT pg_stat_force_next_flush()");
  await client.query("SELECT pg_stat_reset()");

  const store = await openStoreOn(database.url);
  let left = 2_000;
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
  await expect.poll(async () => (await readsOf(client)).posts_pkey ?? 0).toBeGreaterThan(2_000);
  const reads = await readsOf(client);
  const scans = await client.query<Reads>(
    "SELECT relname AS name, seq_tup_read::int AS rows FROM pg_stat_user_tables WHERE relname IN ('posts', 'accounts', 'effects', 'attempts') AND seq_tup_read > 0",
  );
  await client.end();
  expect(scans.rows).toEqual([]);
  const used = Object.keys(reads).filter((name) => name.startsWith("posts_"));
  expect(used.toSorted()).toEqual(["posts_claim", "posts_next", "posts_pkey"]);
  // A claim looks at some 350 that are due, and at the first of each of their accounts twice; it takes what is
  // free by then, one post at the least. Walked once a row, either would be read some millions of times.
  expect(reads.posts_next).toBeLessThan(2_000 * 400);
  expect(reads.posts_claim).toBeLessThan(2_000 * 400);
}, 60_000);

async function readsOf(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<Reads>(
    "SELECT indexrelname AS name, idx_tup_read::int AS rows FROM pg_stat_user_indexes WHERE idx_tup_read > 0",
  );
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

// The plan of a function stays what it was for the first rows that it met.
it("counts attempts that end together by hash, also where the first statement ended none", async () => {
  await using database = await createDatabase();
  const store = await openStoreOn(database.url);
  await fillQueue(store, { accounts: 200, posts: 200, dueAt: DUE_AT });
  await enlist(store, "worker_a");
  await store.claims.claim(wishOf("worker_a", { now, limit: 200 }));
  await store[Symbol.asyncDispose]();
  const client = new pg.Client({ connectionString: database.url });
  const plans: string[] = [];
  client.on("notice", ({ message = "" }) => message.includes("Tuplestore") && plans.push(message));
  await client.connect();
  await client.query("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off");
  await client.query(
    "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET client_min_messages = log",
  );
  const end = "UPDATE attempts SET outcome = 'published', finished_at = 5 WHERE number = ";
  await client.query(`${end} 7`);
  await client.query(`${end} 1`);
  const { rows } = await client.query("SELECT sum(attempts)::int AS attempts FROM attempt_totals");
  await client.end();
  expect(rows).toEqual([{ attempts: 200 }]);
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).toMatch(/Hash Join[^]*posts_pkey/);
  for (const plan of plans) expect(plan).not.toContain("Nested Loop");
});
