import { execFileSync, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { createDatabaseOn, startPostgres, type PostgresServer } from "../test/support/postgres-server.ts";
import { fillQueue } from "../test/support/postgres-queue.ts";
import { openStoreOn } from "../test/support/postgres-store-on.ts";
import { installWorkspace } from "../test/support/workspace.ts";
import type { Order, Told } from "./support/drain-worker.ts";
import { graphileCommand, installGraphile } from "./support/graphile-worker.ts";
import { percentile, print } from "./support/report.ts";

/**
 * How fast 1, 2 and 4 processes drain due posts from a PostgreSQL of their own that waits for its disk, with
 * a platform that does nothing: claim, intent, result and end of each. Beside it, in the same run,
 * graphile-worker with its defaults and 24 jobs at a time, which writes down no intent. (Its local queue with
 * batched completion is several times as fast, and not of equal durability: what was done and not yet marked
 * runs again after a crash.) Then how late posts leave that are all due at one moment. Decides nothing.
 *
 *   npx tsx bench/drain-postgres.ts [posts] [accounts] [posts at once]
 */
const [POSTS = 10_000, ACCOUNTS = 2_000, AT_ONCE = 1_000] = process.argv.slice(2).map(Number);

interface Run {
  readonly seconds: number;
  readonly told: readonly Told[];
}

/** Until `posts` are done, from when all are told to begin; `dueAt` is asked once they could. */
async function runWorkers(
  order: Omit<Order, "id">,
  { workers, posts, dueAt }: { workers: number; posts: number; dueAt?: () => Promise<number> },
): Promise<Run> {
  const children = Array.from({ length: workers }, (_, n) => startWorker({ ...order, id: `wrk_${n}` }));
  await Promise.all(children.map((child) => once(child, "message")));
  const beginAt = (await dueAt?.()) ?? 0;
  const done = children.map(() => 0);
  const last: Told[] = [];
  const ended = children.map((child) => once(child, "exit"));
  const began = performance.now();
  let seconds = 0;
  for (const [n, child] of children.entries()) {
    child.on("message", (told: Told) => {
      done[n] = told.done;
      last[n] = told;
      if (seconds > 0 || done.reduce((sum, one) => sum + one, 0) < posts) return;
      seconds = (performance.now() - began) / 1_000;
      for (const one of children) one.send("stop");
    });
    child.send([beginAt]);
  }
  await Promise.all(ended);
  return { seconds, told: last };
}

function startWorker(order: Order): ChildProcess {
  const child = fork(join(import.meta.dirname, "support", "drain-worker.ts"), { stdio: "inherit" });
  child.send(order);
  return child;
}

const graphile = installGraphile();

async function drainPosts(server: PostgresServer, workers: number): Promise<Run> {
  await using database = await createDatabaseOn(server.address);
  await using store = await openStoreOn(database.url);
  await fillQueue(store, { accounts: ACCOUNTS, posts: POSTS, dueAt: Date.now() - 30_000 });
  return await runWorkers({ kind: "posthorn", url: database.url, graphile }, { workers, posts: POSTS });
}

async function drainJobs(server: PostgresServer, workers: number): Promise<Run> {
  await using database = await createDatabaseOn(server.address, { isEmpty: true });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  execFileSync(graphileCommand(graphile), ["--schema-only", "-c", database.url], { stdio: "ignore" });
  const add =
    "SELECT graphile_worker.add_job('send', json_build_object('n', n)) FROM generate_series(1, $1::int) n";
  await client.query(add, [POSTS]);
  await client.end();
  return await runWorkers({ kind: "graphile", url: database.url, graphile }, { workers, posts: POSTS });
}

async function sendAtOnce(server: PostgresServer, workers: number): Promise<readonly number[]> {
  await using database = await createDatabaseOn(server.address);
  await using store = await openStoreOn(database.url);
  let dueAt = 0;
  const fill = async (): Promise<number> => {
    dueAt = Math.ceil((Date.now() + 3_000) / 1_000) * 1_000;
    await fillQueue(store, { accounts: AT_ONCE, posts: AT_ONCE, dueAt });
    return dueAt;
  };
  const order = { kind: "posthorn", url: database.url, graphile } as const;
  const { told } = await runWorkers(order, { workers, posts: AT_ONCE, dueAt: fill });
  return told.flatMap(({ sentAt }) => sentAt.map((at) => at - dueAt));
}

await installWorkspace("postgres");
await using server = await startPostgres({ isDurable: true, flags: ["-c", "max_connections=200"] });
const rows: string[][] = [];
for (const workers of [1, 2, 4]) {
  const [ours, theirs] = [await drainPosts(server, workers), await drainJobs(server, workers)];
  const [rate, other] = [POSTS / ours.seconds, POSTS / theirs.seconds];
  const claimMs = ours.told.flatMap((told) => told.claimMs);
  rows.push([
    String(workers),
    rate.toFixed(0),
    other.toFixed(0),
    `${(rate / other).toFixed(2)} ×`,
    `${percentile(claimMs, 50).toFixed(0)} / ${percentile(claimMs, 99).toFixed(0)}`,
  ]);
}
print(["workers", "posts/s", "graphile-worker, jobs/s", "ratio", "claim ms, p50 / p99"], rows);
const late = await sendAtOnce(server, 4);
const at = (percent: number): string => `${percentile(late, percent)} ms`;
print(
  [`${late.length} posts due at one moment, 4 workers, sent after`, "p50", "p99", "last"],
  [["", at(50), at(99), at(100)]],
);
