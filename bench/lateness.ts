import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// @ts-expect-error It has no types.
import autocannon from "autocannon";
import Database from "better-sqlite3";
import { buildBundles, callTool, KEY, startPosthorn, type Running } from "./support/built-server.ts";
import { percentile, print } from "./support/report.ts";

/**
 * How late posts are handed over that are due at any millisecond: while the API has nothing to do, and while
 * it serves as many pages as it can. The floor is a timer in a process that does nothing else, measured at
 * the same time.
 *
 *   npx tsx bench/lateness.ts [posts] [seconds]
 */
const POSTS = Number(process.argv[2] ?? 500);
const SECONDS = Number(process.argv[3] ?? 20);
const ACCOUNTS = 10;
const CONNECTIONS = 8;
const PAGES = 1_000;
const LEAD_IN_MS = 4_000;

async function schedule(
  server: Running,
  accountIds: readonly string[],
  times: readonly number[],
): Promise<void> {
  const posts = times.map((at, n) => ({
    accountId: accountIds[n % accountIds.length],
    caption: `Post ${n} of a measurement`,
    scheduledAt: new Date(at).toISOString(),
  }));
  for (let at = 0; at < posts.length; at += 50)
    await callTool(server, "schedule_posts", { posts: posts.slice(at, at + 50) });
}

/** Milliseconds from the due moment to the start of the work on each post. */
async function measure(
  server: Running,
  file: string,
  isLoaded: boolean,
): Promise<{ late: number[]; floor: number[]; pagesPerSecond: number }> {
  const accounts: string[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const { account } = (await callTool(server, "connect_channel", {
      provider: "feed",
      name: `Channel ${n}`,
    })) as {
      account: { id: string };
    };
    accounts.push(account.id);
  }
  await schedule(
    server,
    accounts,
    Array.from({ length: PAGES }, (_, n) => Date.now() + 86_400_000 + n * 60_000),
  );
  const from = Date.now() + LEAD_IN_MS;
  const times = Array.from({ length: POSTS }, () => from + Math.floor(Math.random() * SECONDS * 1_000));
  await schedule(server, accounts, times);
  const floor = times.map(
    (at) =>
      new Promise<number>((resolve) =>
        setTimeout(() => resolve(Math.max(0, Date.now() - at)), at - Date.now()),
      ),
  );
  const load = isLoaded ? await serveMuch(server) : null;
  if (load === null) await Promise.all(floor);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  using database = openReadOnly(file);
  const rows = database.prepare("SELECT lateness_ms FROM attempts").all() as { lateness_ms: number }[];
  if (rows.length !== POSTS) throw new Error(`${rows.length} of ${POSTS} posts were handed over.`);
  return {
    late: rows.map((row) => row.lateness_ms),
    floor: await Promise.all(floor),
    pagesPerSecond: load ?? 0,
  };
}

async function serveMuch(server: Running): Promise<number> {
  const result: { non2xx: number; requests: { average: number } } = await autocannon({
    url: `${server.url}/api/v1/posts?limit=100`,
    headers: { authorization: `Bearer ${KEY}` },
    connections: CONNECTIONS,
    duration: SECONDS + LEAD_IN_MS / 1_000,
  });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} pages were refused.`);
  return result.requests.average;
}

function openReadOnly(file: string): Database.Database & Disposable {
  const database = new Database(file, { readonly: true });
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
}

await using bundles = await buildBundles();
const rows: string[][] = [];
for (const isLoaded of [false, true]) {
  const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
  try {
    await using server = await startPosthorn(bundles.posthorn, folder);
    const { late, floor, pagesPerSecond } = await measure(server, join(folder, "posthorn.db"), isLoaded);
    const name = isLoaded ? `API serving ${pagesPerSecond.toFixed(0)} pages/s` : "API idle";
    for (const [who, times] of [
      ["posts", late],
      ["bare timer", floor],
    ] as const) {
      rows.push([
        name,
        who,
        ...[50, 95, 99, 100].map((share) => `${percentile(times, share).toFixed(0)} ms`),
      ]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
print(["", "", "p50", "p95", "p99", "max"], rows);
