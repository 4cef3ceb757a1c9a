import type { Store } from "../src/store/engine/store.ts";
import { toPost } from "../src/store/tables/posts.ts";
import { firstKeyAt } from "../src/store/search/sort-key.ts";
import { BENCH_OWNER, generatePosts } from "./support/corpus.ts";
import { createTies, openBenchDb, writePosts } from "./support/database.ts";
import { CALLS_A_ROUND, CASES, depthOf, momentAt, toFilter, type Case } from "./support/post-cases.ts";
import { percentile, print } from "./support/report.ts";
import { rawOf } from "../test/support/handles.ts";

/** `npx tsx bench/list-posts.ts [posts = 1000000] [rounds = 5] [part of a case's name]` */
const [count = 1_000_000, rounds = 5] = process.argv.slice(2, 4).map(Number);
const only = process.argv[4] ?? "";
/**
 * Milliseconds that a call takes on a machine of its own: the time on the wall also measures who else uses
 * this one, the process's time on the processors also what V8 does in other threads meanwhile. The call
 * itself took neither more than either.
 */
function startTiming(): () => number {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return Math.min(performance.now() - wall, (user + system) / 1_000);
  };
}

/** What a search goes by here: beside other work the time on the wall would end its pages early. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function measure(store: Store, one: Case): Promise<{ times: number[]; hits: number; isCut: boolean }> {
  const times: number[] = [];
  let hits = 0;
  let isCut = false;
  for (let call = 0; call < CALLS_A_ROUND; call += 1) {
    const depth = depthOf(call) - (call / CALLS_A_ROUND) * 0.02;
    const before = firstKeyAt(momentAt(depth));
    const filter = toFilter(one, depth);
    const stop = startTiming();
    const page = await store.search.page(filter, { before, limit: one.limit ?? 50, now: processorMs });
    const posts = page.rows.map(toPost);
    times.push(stop());
    hits = Math.max(hits, posts.length);
    isCut ||= page.next !== null && posts.length < (one.limit ?? 50);
  }
  return { times, hits, isCut };
}

/** The bare query of an unfiltered page on the driver itself: what any page costs at least. */
function measureFloor(store: Store, limit: number): number[] {
  const statement = rawOf(store).prepare(
    "SELECT * FROM posts WHERE owner_id = ? AND sort_key < ? ORDER BY sort_key DESC LIMIT ?",
  );
  return Array.from({ length: CALLS_A_ROUND }, (_, call) => {
    const before = firstKeyAt(momentAt(depthOf(call)));
    const stop = startTiming();
    statement.all([BENCH_OWNER, before, limit + 1]);
    return stop();
  });
}

async function measurePages(store: Store): Promise<void> {
  const floors = new Map<number, number[]>([50, 100, 500].map((limit) => [limit, []]));
  const results = new Map(
    CASES.filter(({ name }) => name.includes(only)).map((one) => [
      one,
      { p50: [] as number[], p99: [] as number[], hits: 0, isCut: false },
    ]),
  );
  for (let round = 0; round <= rounds; round += 1) {
    for (const [limit, times] of floors) times.push(percentile(measureFloor(store, limit), 50));
    for (const [one, result] of results) {
      const { times, hits, isCut } = await measure(store, one);
      // The first round fills the caches.
      if (round > 0) {
        result.p50.push(percentile(times, 50));
        result.p99.push(percentile(times, 99));
      }
      Object.assign(result, { hits, isCut: result.isCut || isCut });
    }
  }
  const floorOf = (limit: number): number => percentile((floors.get(limit) ?? []).slice(1), 50);
  print(
    ["case", "p50 ms", "p99 ms", "× floor", "posts"],
    [
      ...[50, 100, 500].map((limit) => [
        `floor, ${limit}`,
        floorOf(limit).toFixed(2),
        "",
        "1.0",
        String(limit),
      ]),
      ...[...results].map(([one, { p50, p99, hits, isCut }]) => [
        one.name,
        percentile(p50, 50).toFixed(2),
        percentile(p99, 50).toFixed(2),
        (percentile(p50, 50) / floorOf(one.limit ?? 50)).toFixed(1),
        `${hits}${isCut ? " cut short" : ""}`,
      ]),
    ],
  );
  const groups = [
    ...[50, 100, 500].map((limit) => ({ name: `pages of ${limit}`, limit, isSearch: false })),
    ...[50, 500].map((limit) => ({ name: `searches, pages of ${limit}`, limit, isSearch: true })),
  ];
  print(
    ["cases", "median of p50 ms", "worst p99 ms", "× floor"],
    groups.flatMap(({ name, limit, isSearch }) => {
      const group = [...results].filter(
        ([one]) => (one.limit ?? 50) === limit && (one.search !== undefined) === isSearch,
      );
      if (group.length === 0) return [];
      const median = percentile(
        group.map(([, { p50 }]) => percentile(p50, 50)),
        50,
      );
      const worst = Math.max(...group.map(([, { p99 }]) => percentile(p99, 50)));
      return [
        [`${group.length} ${name}`, median.toFixed(2), worst.toFixed(2), (worst / floorOf(limit)).toFixed(1)],
      ];
    }),
  );
}

function measureSize(store: Store): void {
  const rows = rawOf(store)
    .prepare("SELECT name, SUM(pgsize) AS bytes FROM dbstat GROUP BY name")
    .all([]) as {
    name: string;
    bytes: number;
  }[];
  const sum = (pattern: RegExp): number =>
    rows.filter(({ name }) => pattern.test(name)).reduce((total, { bytes }) => total + bytes, 0) / 1e6;
  const table = sum(/^posts$/);
  const all = sum(/^posts|sqlite_autoindex_posts/);
  const index = sum(/^search_/);
  print(
    ["posts MB", "with its indexes MB", "search index MB", "× posts", "× posts with indexes"],
    [[table, all, index, index / table, index / all].map((value) => value.toFixed(2))],
  );
}

/**
 * New posts one a transaction, as `schedule_post` writes them, with and without the text index; taken back
 * afterwards.
 */
async function measureInserts(store: Store): Promise<void> {
  const nextKey = createTies();
  const posts = [...generatePosts(4_000)].map((post, at) => ({
    ...post,
    id: `bench_${at}`,
    scheduledAt: post.scheduledAt + 1,
  }));
  const times = { plain: [] as number[], indexed: [] as number[] };
  for (const [at, post] of posts.entries()) {
    const kind = at % 2 === 0 ? "plain" : "indexed";
    const start = performance.now();
    await writePosts(store, [post], nextKey, kind === "indexed");
    times[kind].push(performance.now() - start);
  }
  rawOf(store).exec("BEGIN IMMEDIATE");
  rawOf(store).exec(
    "DELETE FROM search_index WHERE rowid IN (SELECT sort_key FROM posts WHERE id LIKE 'bench%')",
  );
  rawOf(store).exec("DELETE FROM posts WHERE id LIKE 'bench%'");
  rawOf(store).exec("COMMIT");
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  print(
    ["insert, one a transaction", "mean ms", "p50 ms", "p99 ms", "× unindexed"],
    [
      ["unindexed", mean(times.plain), percentile(times.plain, 50), percentile(times.plain, 99), 1],
      [
        "indexed",
        mean(times.indexed),
        percentile(times.indexed, 50),
        percentile(times.indexed, 99),
        mean(times.indexed) / mean(times.plain),
      ],
    ].map((row) => row.map((cell) => (typeof cell === "number" ? cell.toFixed(2) : cell))),
  );
}

await using store = await openBenchDb(count, (line) => process.stderr.write(`${line}\n`));
await measurePages(store);
measureSize(store);
await measureInserts(store);
