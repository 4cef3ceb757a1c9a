import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// @ts-expect-error It has no types.
import autocannon from "autocannon";
import { openStore } from "../src/store/open-store.ts";
import { buildBundles, callTool, KEY, startPosthorn, type Running } from "./support/built-server.ts";
import { databaseFile, openBenchDb } from "./support/database.ts";
import { print } from "./support/report.ts";
import { rawOf } from "../test/support/handles.ts";

/**
 * The server as it is installed over a million posts: pages of 100 (goal: 99 % within 20 ms), new posts, and
 * the memory of a server that has nothing to do (goal: 300 MB).
 *
 *   npx tsx bench/api.ts [posts = 1000000] [seconds = 8]
 */
const [count = 1_000_000, seconds = 8] = process.argv.slice(2).map(Number);
const CONNECTIONS = 4;

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

async function load(server: Running, path: string, request: object): Promise<string[]> {
  const url = server.url + path;
  const options = { url, connections: CONNECTIONS, duration: seconds, headers, ...request };
  const result: { non2xx: number; requests: { average: number }; latency: { p50: number; p99: number } } =
    await autocannon(options);
  if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused.`);
  const { requests, latency } = result;
  return [requests.average.toFixed(0), String(latency.p50), String(latency.p99)];
}

async function idleMegabytes({ pid }: Running): Promise<string> {
  const memory = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(memory) / 1_024).toFixed(0);
}

/**
 * Posts that should have gone out long ago would keep the publisher busy for minutes, and beside it
 * everything that is measured.
 */
async function reconcile(file: string): Promise<void> {
  await using store = await openStore({ file });
  const raw = rawOf(store);
  raw.exec("UPDATE posts SET status = 'failed', next_at = NULL WHERE status = 'publishing'");
  raw.exec(
    "UPDATE posts SET status = 'cancelled', next_at = NULL WHERE status = 'scheduled' AND next_at < unixepoch('now', '+1 hour') * 1000",
  );
}

await (await openBenchDb(count, (line) => process.stderr.write(`${line}\n`)))[Symbol.asyncDispose]();
const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
try {
  await using bundles = await buildBundles();
  await copyFile(databaseFile(count), join(folder, "posthorn.db"));
  await reconcile(join(folder, "posthorn.db"));
  await using posthorn = await startPosthorn(bundles.posthorn, folder);
  const made = (await callTool(posthorn, "connect_channel", { provider: "feed", name: "Measured" })) as {
    account: { id: string };
  };
  const body = JSON.stringify({
    accountId: made.account.id,
    caption: "A post of a measurement",
    scheduledAt: "2099-01-01T00:00:00Z",
  });
  process.stdout.write(`idle: ${await idleMegabytes(posthorn)} MB\n`);
  print(
    ["", "a second", "p50 ms", "p99 ms"],
    [
      ["GET /posts?limit=100", ...(await load(posthorn, "/api/v1/posts?limit=100", {}))],
      ["POST /posts", ...(await load(posthorn, "/api/v1/posts", { method: "POST", body }))],
    ],
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
