import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { buildProgram } from "../test/support/built-program.ts";
import { fillQueue } from "../test/support/postgres-queue.ts";
import { createDatabaseOn, startPostgres } from "../test/support/postgres-server.ts";
import { openStoreOn } from "../test/support/postgres-store-on.ts";
import { addressOf, startProgram } from "../test/support/program.ts";
import { temporaryFolder } from "../test/support/temporary-folder.ts";
import { installWorkspace } from "../test/support/workspace.ts";
import { graphileCommand, installGraphile } from "./support/graphile-worker.ts";
import { childrensProcessorMs, processorMs } from "./support/processor-time.ts";
import { print } from "./support/report.ts";

/**
 * What publishers cost that have nothing to do, with posts that wait for tomorrow: processor time of each and
 * of the server, and transactions. Beside it, in the same run, graphile-worker with its defaults. Linux only.
 *
 *   npx tsx bench/idle-postgres.ts [seconds] [posts]
 */
const [SECONDS = 30, POSTS = 10_000] = process.argv.slice(2).map(Number);
/** What is loaded and looked at once is over by then. */
const SETTLE_MS = 10_000;
const DAY_MS = 86_400_000;

await installWorkspace("postgres");
const graphile = installGraphile();
/** With its defaults, and tasks of one kind. */
const GRAPHILE =
  "require('graphile-worker').run({ connectionString: process.argv[1], taskList: { send: async () => {} } })";
await using server = await startPostgres({ isDurable: true });
const postmaster = Number(readFileSync(`${server.folder}/postmaster.pid`, "utf8").split("\n")[0]);
using program = await buildProgram();

interface Counts {
  readonly workersMs: number;
  readonly serverMs: number;
  readonly transactions: number;
}

async function measure(name: string, url: string, workers: readonly ChildProcess[]): Promise<string[]> {
  await using client = await openClient(url);
  const count = async (): Promise<Counts> => {
    const { rows } = await client.query(
      "SELECT (xact_commit + xact_rollback)::int AS n FROM pg_stat_database WHERE datname = current_database()",
    );
    const workersMs = workers.map(({ pid }) => processorMs(pid!)).reduce((sum, ms) => sum + ms, 0);
    return { workersMs, serverMs: childrensProcessorMs(postmaster), transactions: rows[0].n };
  };
  await pause(SETTLE_MS);
  const before = await count();
  await pause(SECONDS * 1_000);
  const after = await count();
  const each = (key: keyof Counts): number => (after[key] - before[key]) / SECONDS / workers.length;
  const share = (ms: number): string => `${(ms / 10).toFixed(2)} %`;
  return [
    name,
    String(workers.length),
    share(each("workersMs")),
    share(each("serverMs")),
    each("transactions").toFixed(1),
  ];
}

async function openClient(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function idlePublishers(count: number): Promise<string[]> {
  await using database = await createDatabaseOn(server.address);
  {
    await using store = await openStoreOn(database.url);
    await fillQueue(store, { accounts: 100, posts: POSTS, dueAt: Date.now() + DAY_MS });
  }
  const key = randomBytes(32).toString("hex");
  const folders = Array.from({ length: count }, () => temporaryFolder());
  const publishers = folders.map((folder) => {
    const env = { ...folder.env, DATABASE_URL: database.url, POSTHORN_SECRET_KEY: key };
    return startProgram({
      file: program.file,
      args: ["serve", "--publisher"],
      env: { ...env, POSTHORN_PORT: "0", POSTHORN_FILES: "folder", POSTHORN_LOG_LEVEL: "warn" },
      stdio: ["ignore", "pipe", "inherit"],
    });
  });
  await Promise.all(publishers.map(({ child }) => addressOf(child.stdout!)));
  const row = await measure(
    "posthorn serve --publisher",
    database.url,
    publishers.map(({ child }) => child),
  );
  await Promise.all(publishers.map(({ endBy }) => endBy((child) => child.kill("SIGTERM"))));
  for (const folder of folders) folder[Symbol.dispose]();
  return row;
}

async function idleGraphile(count: number): Promise<string[]> {
  await using database = await createDatabaseOn(server.address, { isEmpty: true });
  execFileSync(graphileCommand(graphile), ["--schema-only", "-c", database.url], { stdio: "ignore" });
  const workers = Array.from({ length: count }, () =>
    spawn(process.execPath, ["-e", GRAPHILE, database.url], { cwd: dirname(graphile), stdio: "ignore" }),
  );
  const row = await measure("graphile-worker", database.url, workers);
  for (const worker of workers) worker.kill("SIGKILL");
  return row;
}

const rows: string[][] = [];
for (const count of [1, 4]) rows.push(await idleGraphile(count), await idlePublishers(count));
const head = [
  "nothing to do",
  "workers",
  "of a processor, each",
  "of the server's, each",
  "transactions/s, each",
];
print(head, rows);
