import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// @ts-expect-error It has no types.
import autocannon from "autocannon";
import { openStore } from "../src/store/open-store.ts";
import {
  buildBundles,
  callTool,
  KEY,
  startPosthorn,
  startProcess,
  type Running,
} from "./support/built-server.ts";
import { databaseFile, openBenchDb } from "./support/database.ts";
import { processorMs } from "./support/processor-time.ts";
import { percentile, print } from "./support/report.ts";
import { rawOf } from "../test/support/handles.ts";

/**
 * The API against bare servers that do the same work, over a million posts: pages of 100 against node:http
 * with the same query, new posts against Express with one insert as durable. And what a server costs that has
 * nothing to do.
 *
 *   npx tsx bench/api.ts [posts = 1000000] [seconds = 8] [rounds = 3]
 */
const [count = 1_000_000, seconds = 8, rounds = 3] = process.argv.slice(2).map(Number);
const CONNECTIONS = 8;
const IDLE_MS = 20_000;

interface Load {
  readonly perSecond: number;
  readonly p99: number;
  /**
   * Processor time of the server for one request, all its threads: what other work on the machine disturbs
   * least.
   */
  readonly cpuUs: number;
}

interface Target {
  readonly server: Running;
  readonly path: string;
  readonly request: object;
}

async function load({ server, path, request }: Target): Promise<Load> {
  const before = processorMs(server.pid);
  const result: { non2xx: number; requests: { average: number; total: number }; latency: { p99: number } } =
    await autocannon({
      url: server.url + path,
      connections: CONNECTIONS,
      duration: seconds,
      ...request,
    });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused.`);
  const cpuUs = ((processorMs(server.pid) - before) / result.requests.total) * 1e3;
  return { perSecond: result.requests.average, p99: result.latency.p99, cpuUs };
}

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

/** In turns, so that whatever else the machine does meets both; ratios are those of one turn. */
async function compare(name: string, targets: { posthorn: Target; bare: Target }): Promise<string[][]> {
  const runs: Record<"bare" | "posthorn", Load>[] = [];
  for (let round = 0; round < rounds; round += 1)
    runs.push({ bare: await load(targets.bare), posthorn: await load(targets.posthorn) });
  const row = (who: "bare" | "posthorn"): string[] => [
    name,
    who,
    middleOf(runs, (run) => run[who].perSecond).toFixed(0),
    String(middleOf(runs, (run) => run[who].p99)),
    middleOf(runs, (run) => run[who].cpuUs).toFixed(0),
    middleOf(runs, (run) => run[who].perSecond / run.bare.perSecond).toFixed(2),
    middleOf(runs, (run) => run.bare.cpuUs / run[who].cpuUs).toFixed(2),
  ];
  return [row("bare"), row("posthorn")];
}

function middleOf<T>(runs: readonly T[], figure: (run: T) => number): number {
  return percentile(runs.map(figure), 50);
}

/** Share of one processor that the process takes while nobody asks it for anything. */
async function measureIdle(server: Running): Promise<string> {
  const before = processorMs(server.pid);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const share = (processorMs(server.pid) - before) / IDLE_MS;
  const memory = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${server.pid}/status`, "utf8"))?.[1];
  return `idle: ${(share * 100).toFixed(2)} % of a processor, ${(Number(memory) / 1_024).toFixed(0)} MB`;
}

/**
 * Posts that should have gone out long ago would keep the publisher busy for minutes, and beside it
 * everything that is measured.
 */
async function settle(file: string): Promise<void> {
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
  const bareHttp = await bundles.bare("bare-http");
  await copyFile(databaseFile(count), join(folder, "posthorn.db"));
  await settle(join(folder, "posthorn.db"));
  await using posthorn = await startPosthorn(bundles.posthorn, folder);
  const idle = await measureIdle(posthorn);
  await using pages = await startProcess([bareHttp, "pages", join(folder, "posthorn.db")]);
  await using posts = await startProcess([bareHttp, "posts", join(folder, "bare.db")]);
  const { account } = (await callTool(posthorn, "connect_channel", {
    provider: "feed",
    name: "Measured",
  })) as { account: { id: string } };
  const body = JSON.stringify({
    accountId: account.id,
    caption: "A post of a measurement",
    scheduledAt: "2099-01-01T00:00:00Z",
  });
  const post = { method: "POST", headers, body };
  print(
    ["", "", "a second", "p99 ms", "µs of processor", "× bare", "× bare by processor"],
    [
      ...(await compare("GET /posts?limit=100", {
        bare: { server: pages, path: "/", request: {} },
        posthorn: { server: posthorn, path: "/api/v1/posts?limit=100", request: { headers } },
      })),
      ...(await compare("POST /posts", {
        bare: { server: posts, path: "/", request: post },
        posthorn: { server: posthorn, path: "/api/v1/posts", request: post },
      })),
    ],
  );
  process.stdout.write(`${idle}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
