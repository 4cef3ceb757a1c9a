import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
// @ts-expect-error It has no types.
import autocannon from "autocannon";
import Database from "better-sqlite3";
import { percentile, print } from "./support/report.ts";

/**
 * How late posts are handed over that are due at any millisecond: while the API has nothing to do, and while it serves as many
 * pages as it can. The floor is a timer in a process that does nothing else, measured at the same time.
 *
 *   npx tsx bench/lateness.ts [posts] [seconds]
 */
const POSTS = Number(process.argv[2] ?? 500);
const SECONDS = Number(process.argv[3] ?? 20);
const ACCOUNTS = 10;
const CONNECTIONS = 8;
const PAGES = 1_000;
const LEAD_IN_MS = 4_000;

const ROOT = join(import.meta.dirname, "..");
const KEY = "a-key-of-this-measurement-alone-0123456789";
const run = promisify(execFile);

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly database: string;
}

async function startServer(bundle: string): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
  const env = { ...process.env, POSTHORN_DATA_DIR: folder, POSTHORN_PORT: "0", POSTHORN_API_KEY: KEY };
  const child = spawn(process.execPath, [bundle, "serve"], {
    env: { ...env, POSTHORN_LOG_LEVEL: "silent", POSTHORN_RATE_LIMIT: "100000000" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [greeting] = (await once(child.stdout, "data")) as [Buffer];
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(greeting.toString())?.[0];
  if (url === undefined) throw new Error(`The server did not say where it listens: ${greeting.toString()}`);
  return {
    url,
    database: join(folder, "posthorn.db"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function call(server: Server, tool: string, args: object): Promise<unknown> {
  const answer = await fetch(`${server.url}/api/v1/tools/${tool}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(args),
  });
  const { result, error } = (await answer.json()) as { result: unknown; error?: string };
  if (error !== undefined) throw new Error(error);
  return result;
}

async function schedule(server: Server, accountIds: readonly string[], times: readonly number[]): Promise<void> {
  const posts = times.map((at, n) => ({
    accountId: accountIds[n % accountIds.length],
    caption: `Post ${n} of a measurement`,
    scheduledAt: new Date(at).toISOString(),
  }));
  for (let at = 0; at < posts.length; at += 50) await call(server, "schedule_posts", { posts: posts.slice(at, at + 50) });
}

/** Milliseconds from the due moment to the start of the work on each post. */
async function measure(server: Server, isLoaded: boolean): Promise<{ late: number[]; floor: number[]; pagesPerSecond: number }> {
  const accounts: string[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const { account } = (await call(server, "connect_channel", { provider: "feed", name: `Channel ${n}` })) as { account: { id: string } };
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
    (at) => new Promise<number>((resolve) => setTimeout(() => resolve(Math.max(0, Date.now() - at)), at - Date.now())),
  );
  const load = isLoaded ? await serveMuch(server) : null;
  if (load === null) await Promise.all(floor);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  using database = openReadOnly(server.database);
  const rows = database.prepare("SELECT lateness_ms FROM attempts").all() as { lateness_ms: number }[];
  if (rows.length !== POSTS) throw new Error(`${rows.length} of ${POSTS} posts were handed over.`);
  return { late: rows.map((row) => row.lateness_ms), floor: await Promise.all(floor), pagesPerSecond: load ?? 0 };
}

async function serveMuch(server: Server): Promise<number> {
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

/** Where the bundle finds the native packages. */
const folder = join(ROOT, "node_modules", ".cache", `posthorn-bench-${process.pid}`);
try {
  await run(process.execPath, ["--import", "tsx", "scripts/build.ts", folder], { cwd: ROOT });
  const rows: string[][] = [];
  for (const isLoaded of [false, true]) {
    await using server = await startServer(join(folder, "posthorn.js"));
    const { late, floor, pagesPerSecond } = await measure(server, isLoaded);
    const name = isLoaded ? `API serving ${pagesPerSecond.toFixed(0)} pages/s` : "API idle";
    for (const [who, times] of [
      ["posts", late],
      ["bare timer", floor],
    ] as const) {
      rows.push([name, who, ...[50, 95, 99, 100].map((share) => `${percentile(times, share).toFixed(0)} ms`)]);
    }
  }
  print(["", "", "p50", "p95", "p99", "max"], rows);
} finally {
  await rm(folder, { recursive: true, force: true });
}
