import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// @ts-expect-error It has no types.
import autocannon from "autocannon";
import { buildBundles, callTool, KEY, startPosthorn, startProcess, type Running } from "./support/built-server.ts";
import { databaseFile, openBenchDb } from "./support/database.ts";
import { print } from "./support/report.ts";

/**
 * The API against bare servers that do the same work, over a million posts: pages of 100 against node:http with the same query,
 * new posts against Express with one insert as durable. And what a server costs that has nothing to do.
 *
 *   npx tsx bench/api.ts [posts = 1000000] [seconds = 8] [rounds = 3]
 */
const [count = 1_000_000, seconds = 8, rounds = 3] = process.argv.slice(2).map(Number);
const CONNECTIONS = 8;
const IDLE_MS = 20_000;
/** Of `utime` and `stime` in /proc/<pid>/stat. */
const TICKS_A_SECOND = 100;

interface Load {
  readonly perSecond: number;
  readonly p99: number;
}

async function load(url: string, request: object = {}): Promise<Load> {
  const result: { non2xx: number; requests: { average: number }; latency: { p99: number } } = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    ...request,
  });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused.`);
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

async function compare(name: string, servers: { posthorn: () => Promise<Load>; bare: () => Promise<Load> }): Promise<string[][]> {
  const runs: { posthorn: Load; bare: Load }[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push({ bare: await servers.bare(), posthorn: await servers.posthorn() });
  const [middle] = runs
    .sort((a, b) => a.posthorn.perSecond / a.bare.perSecond - b.posthorn.perSecond / b.bare.perSecond)
    .slice(Math.floor(runs.length / 2));
  if (middle === undefined) return [];
  const row = (who: "bare" | "posthorn"): string[] => [
    name,
    who,
    middle[who].perSecond.toFixed(0),
    String(middle[who].p99),
    (middle[who].perSecond / middle.bare.perSecond).toFixed(2),
  ];
  return [row("bare"), row("posthorn")];
}

/** Share of one processor that the process takes while nobody asks it for anything. */
async function measureIdle({ pid }: Running): Promise<string> {
  const ticks = async (): Promise<number> => {
    const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
    return Number(fields[11]) + Number(fields[12]);
  };
  const before = await ticks();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const share = ((await ticks()) - before) / TICKS_A_SECOND / (IDLE_MS / 1_000);
  const memory = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  return `idle: ${(share * 100).toFixed(2)} % of a processor, ${(Number(memory) / 1_024).toFixed(0)} MB`;
}

await (await openBenchDb(count, (line) => process.stderr.write(`${line}\n`)))[Symbol.asyncDispose]();
const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
try {
  await using bundles = await buildBundles();
  const bareHttp = await bundles.bare("bare-http");
  await copyFile(databaseFile(count), join(folder, "posthorn.db"));
  await using posthorn = await startPosthorn(bundles.posthorn, folder);
  const idle = await measureIdle(posthorn);
  await using pages = await startProcess([bareHttp, "pages", join(folder, "posthorn.db")]);
  await using posts = await startProcess([bareHttp, "posts", join(folder, "bare.db")]);
  const { account } = (await callTool(posthorn, "connect_channel", { provider: "feed", name: "Measured" })) as { account: { id: string } };
  const body = JSON.stringify({ accountId: account.id, caption: "A post of a measurement", scheduledAt: "2099-01-01T00:00:00Z" });
  const post = { method: "POST", headers, body };
  print(
    ["", "", "a second", "p99 ms", "× bare"],
    [
      ...(await compare("GET /posts?limit=100", {
        bare: () => load(pages.url),
        posthorn: () => load(`${posthorn.url}/api/v1/posts?limit=100`, { headers }),
      })),
      ...(await compare("POST /posts", {
        bare: () => load(posts.url, post),
        posthorn: () => load(`${posthorn.url}/api/v1/posts`, post),
      })),
    ],
  );
  process.stdout.write(`${idle}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
