import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { parseSearch } from "../src/domain/compare-words.ts";
import { openConnections } from "../src/store/postgres/connect/connections.ts";
import { postIndex } from "../src/store/postgres/search/post-index.ts";
import { createSearch } from "../src/store/postgres/search/post-pages.ts";
import { TUNING, type Costs } from "../src/store/postgres/search/two-ways.ts";
import { firstKeyAt } from "../src/store/search/sort-key.ts";
import { toPost } from "../src/store/tables/posts.ts";
import { queryOf } from "../test/support/handles.ts";
import { createDatabaseOn, startPostgres } from "../test/support/postgres-server.ts";
import { installWorkspace } from "../test/support/workspace.ts";
import { BENCH_OWNER } from "./support/corpus.ts";
import { CALLS_A_ROUND, CASES, depthOf, momentAt, toFilter, type Case } from "./support/post-cases.ts";
import { countPosts, fillBenchDb } from "./support/postgres-database.ts";
import { percentile, print } from "./support/report.ts";

/**
 * `npx tsx bench/search-postgres.ts [posts = 1000000] [rounds = 3] [part of a case's name] [address of a database]`.
 * Without an address on a server of its own, which is filled anew.
 */
const [count = 1_000_000, rounds = 3] = process.argv.slice(2, 4).map(Number);
const [only = "", address] = process.argv.slice(4);
const FLAGS = ["shared_buffers=1GB", "effective_cache_size=2GB", "random_page_cost=1.1", "max_wal_size=4GB"];

await installWorkspace("postgres");
await using server =
  address === undefined
    ? await startPostgres({ isDurable: true, flags: FLAGS.flatMap((flag) => ["-c", flag]) })
    : null;
const url = address ?? (server === null ? "" : (await createDatabaseOn(server.address)).url);
await using connections = await openConnections({ url, sizes: { application: 1 } }, postIndex);
if ((await countPosts(connections)) === 0)
  await fillBenchDb(connections, count, (line) => process.stderr.write(`${line}\n`));
const query = queryOf(connections.application);
const search = createSearch(connections.application);
const { rows: backends } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(query);
const backend = backends[0]?.pid ?? 0;
/** What a search goes by here: beside other work the time on the wall would end its pages early. */
const now = (): number =>
  process.cpuUsage().user / 1_000 + (Number.isFinite(processorMs()) ? processorMs() : 0);

/**
 * Milliseconds on a machine of its own: the time on the wall also measures who else uses this one. The work took
 * no more than the processor time of this process and the server's, which Linux tells.
 */
async function time<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const [wall, own, server] = [performance.now(), process.cpuUsage(), processorMs()];
  const result = await work();
  const { user, system } = process.cpuUsage(own);
  const ms = Math.min(performance.now() - wall, (user + system) / 1_000 + processorMs() - server);
  return { ms, result };
}

/** Processor time of the one connection's process; endless where the system does not tell. */
function processorMs(): number {
  try {
    return Number(readFileSync(`/proc/${backend}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return Infinity;
  }
}

/** Of a few runs: other work on the machine only makes it longer. */
async function least(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 5; run += 1) times.push((await time(work)).ms);
  return Math.min(...times);
}

/** What one of each costs here, in microseconds. */
async function measureCosts(): Promise<Costs> {
  const find = async (text: string, costs: Costs, steps: readonly number[]): Promise<void> => {
    const filter = { accountIds: null, providers: null, statuses: null, from: null, to: null };
    const searching = createSearch(connections.application, { steps, costs });
    const page = { before: null, limit: 50, now: () => 0 };
    await searching.page({ ...filter, ownerId: BENCH_OWNER, terms: parseSearch(text) }, page);
  };
  const countOf = async (words: string): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::integer AS count FROM post_search WHERE words @@ ${words}::tsquery`.execute(query);
    return rows[0]?.count ?? 0;
  };
  const all = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM post_search WHERE owner_id = ${BENCH_OWNER}`.execute(query);
  const scanned = await least(() => find("nowhereatall", { row: 0, hit: 1, entry: 1 }, [15_000]));
  const hits = await countOf("'percentile'");
  const found = await least(() => find("percentile", { row: 1, hit: 0, entry: 0 }, [1]));
  const entries = await countOf("'evergreen':*");
  const read = await least(() => countOf("'evergreen':* & 'unicorns'"));
  return {
    row: (scanned * 1_000) / (all.rows[0]?.count ?? 0),
    hit: (found * 1_000) / hits,
    entry: (read * 1_000) / entries,
  };
}

/** The bare query of an unfiltered page: what any page costs at least. */
async function measureFloor(limit: number): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < CALLS_A_ROUND; call += 1) {
    const before = firstKeyAt(momentAt(depthOf(call)));
    const { ms } = await time(() =>
      sql`SELECT * FROM posts WHERE owner_id = ${BENCH_OWNER} AND sort_key < ${before}
        ORDER BY sort_key DESC LIMIT ${limit + 1}`.execute(query),
    );
    times.push(ms);
  }
  return times;
}

async function measure(one: Case): Promise<{ times: number[]; hits: number; isCut: boolean }> {
  const limit = one.limit ?? 50;
  const times: number[] = [];
  let hits = 0;
  let isCut = false;
  for (let call = 0; call < CALLS_A_ROUND; call += 1) {
    const depth = depthOf(call) - (call / CALLS_A_ROUND) * 0.02;
    const before = firstKeyAt(momentAt(depth));
    const { ms, result } = await time(async () => {
      const page = await search.page(toFilter(one, depth), { before, limit, now });
      return { posts: page.rows.map(toPost), next: page.next };
    });
    const { posts, next } = result;
    times.push(ms);
    hits = Math.max(hits, posts.length);
    isCut ||= next !== null && posts.length < limit;
  }
  return { times, hits, isCut };
}

/** Each call by the least of its rounds: other work on the machine only makes it longer. */
interface Result {
  readonly times: number[];
  hits: number;
  isCut: boolean;
}

const floors = new Map<number, number[]>([50, 100, 500].map((limit) => [limit, []]));
const results = new Map<Case, Result>(
  CASES.filter(({ name }) => name.includes(only)).map((one) => [one, { times: [], hits: 0, isCut: false }]),
);
// The first round fills the caches.
for (let round = 0; round <= rounds; round += 1) {
  for (const [limit, times] of floors) {
    const measured = await measureFloor(limit);
    if (round > 0) times.push(percentile(measured, 50));
  }
  for (const [one, result] of results) {
    const { times, hits, isCut } = await measure(one);
    if (round > 0)
      for (const [call, ms] of times.entries()) result.times[call] = Math.min(result.times[call] ?? ms, ms);
    Object.assign(result, { hits, isCut: result.isCut || (round > 0 && isCut) });
  }
}
const floorOf = (limit: number): number => percentile(floors.get(limit) ?? [], 50);
const rowOf = (name: string, times: readonly number[], limit: number, more: string): string[] => [
  name,
  ...[50, 99, 100].map((percent) => percentile(times, percent).toFixed(1)),
  ...[50, 99, 100].map((percent) => (percentile(times, percent) / floorOf(limit)).toFixed(1)),
  more,
];
const HEAD = ["p50 ms", "p99 ms", "worst ms", "p50 × floor", "p99 × floor", "worst × floor"];
print(
  ["case", ...HEAD, "posts"],
  [...results].map(([one, { times, hits, isCut }]) =>
    rowOf(one.name, times, one.limit ?? 50, `${hits}${isCut ? " cut short" : ""}`),
  ),
);
const timesOf = (group: readonly (readonly [Case, Result])[]): number[] =>
  group.flatMap(([, { times }]) => times);
const searches = [...results].filter(([one]) => one.search !== undefined);
print(
  ["cases", ...HEAD, "floor ms"],
  [
    ...[50, 100, 500].flatMap((limit) =>
      [false, true].flatMap((isSearch) => {
        const group = [...results].filter(
          ([one]) => (one.limit ?? 50) === limit && (one.search !== undefined) === isSearch,
        );
        const name = `${group.length} ${isSearch ? "searches" : "pages"} of ${limit}`;
        return group.length === 0 ? [] : [rowOf(name, timesOf(group), limit, floorOf(limit).toFixed(2))];
      }),
    ),
    rowOf(`${searches.length} searches in all`, timesOf(searches), 50, floorOf(50).toFixed(2)),
  ],
);
const costs = await measureCosts();
print(
  ["cost in µs", "here", "reckoned with"],
  (["row", "hit", "entry"] as const).map((name) => [
    name,
    costs[name].toFixed(2),
    String(TUNING.costs[name]),
  ]),
);
