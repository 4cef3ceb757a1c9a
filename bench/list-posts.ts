import { sql } from "kysely";
import { systemClock } from "../src/app/system-clock.ts";
import { openStore } from "../src/store/open-store.ts";
import type { Store } from "../src/store/engine/store.ts";
import { toPost } from "../src/store/queries/posts.ts";
import { queryOf } from "../test/support/handles.ts";
import { addPosts } from "../test/support/post-rows.ts";
import { createDatabaseOn, startPostgres, type PostgresServer } from "../test/support/postgres-server.ts";
import { installWorkspace } from "../test/support/workspace.ts";
import { generatePosts } from "./support/corpus.ts";
import { fill, openBenchDb } from "./support/database.ts";
import { CALLS_A_ROUND, CASES, depthOf, momentAt, toFilter, type Case } from "./support/post-cases.ts";
import { percentile, print } from "./support/report.ts";

/**
 * `npx tsx bench/list-posts.ts [posts = 1000000] [part of a case's name] [postgres, or the address of a database]`:
 * pages and searches on SQLite, or on a PostgreSQL of its own or at that address, which is filled when it is empty.
 */
const [posts = "1000000", only = "", engine = "sqlite"] = process.argv.slice(2);
const count = Number(posts);
const FLAGS = ["shared_buffers=1GB", "effective_cache_size=2GB", "random_page_cost=1.1", "max_wal_size=4GB"];
/** The goals at 100,000 posts and at a million. */
const GOALS = { page: 20, search: count > 100_000 ? 300 : 50 };

const report = (line: string): void => void process.stderr.write(`${line}\n`);

async function startServer(): Promise<PostgresServer> {
  await installWorkspace("postgres");
  return startPostgres({ isDurable: true, flags: FLAGS.flatMap((flag) => ["-c", flag]) });
}

async function openPostgres(url: string): Promise<Store> {
  const store = await openStore({ url, clock: systemClock });
  if ((await queryOf(store).selectFrom("posts").select("id").limit(1).execute()).length === 0) {
    await fill(store, count, report);
    await sql`VACUUM ANALYZE`.execute(queryOf(store));
  }
  return store;
}

/** On SQLite processor time: the time on the wall also measures who else uses the machine. */
function now(): number {
  const { user, system } = process.cpuUsage();
  return engine === "sqlite" ? (user + system) / 1_000 : performance.now();
}

function startTiming(): () => number {
  const [wall, own] = [performance.now(), now()];
  return () => Math.min(performance.now() - wall, now() - own);
}

async function measure(store: Store, one: Case): Promise<{ times: number[]; hits: number; cut: number }> {
  const limit = one.limit ?? 50;
  const times: number[] = [];
  let [hits, cut] = [0, 0];
  for (let call = 0; call < CALLS_A_ROUND; call += 1) {
    const depth = depthOf(call) - (call / CALLS_A_ROUND) * 0.02;
    const stop = startTiming();
    const before = { at: momentAt(depth), id: "" };
    const page = await store.search.page(toFilter(one, depth), {
      before,
      limit,
      now,
    });
    const shown = page.rows.map(toPost);
    times.push(stop());
    hits = Math.max(hits, shown.length);
    if (page.next !== null && shown.length < limit) cut += 1;
  }
  return { times, hits, cut };
}

const figures = (times: readonly number[]): string[] =>
  [50, 99, 100].map((percent) => percentile(times, percent).toFixed(1));

await using server = engine === "postgres" ? await startServer() : null;
const url = server === null ? engine : (await createDatabaseOn(server.address)).url;
await using store = engine === "sqlite" ? await openBenchDb(count, report) : await openPostgres(url);
const cases = CASES.filter(({ name }) => name.includes(only));
// The first round fills the caches.
for (const one of cases) await measure(store, one);
const all = { page: [] as number[], search: [] as number[] };
const rows: string[][] = [];
for (const one of cases) {
  const { times, hits, cut } = await measure(store, one);
  all[one.search === undefined ? "page" : "search"].push(...times);
  rows.push([one.name, ...figures(times), String(hits), cut === 0 ? "" : `${cut} of ${times.length}`]);
}
print(["case", "p50 ms", "p99 ms", "worst ms", "posts", "ended early"], rows);
print(
  ["all", "p50 ms", "p99 ms", "worst ms", "goal for p99"],
  (["page", "search"] as const).map((kind) => [kind, ...figures(all[kind]), String(GOALS[kind])]),
);
const inserts: number[] = [];
for (const post of generatePosts(500)) {
  const stop = startTiming();
  await addPosts(store, [{ ...post, id: `bench_${post.id}_${Date.now()}` }]);
  inserts.push(stop());
}
print(["new post, one a transaction", "p50 ms", "p99 ms", "worst ms"], [["", ...figures(inserts)]]);
