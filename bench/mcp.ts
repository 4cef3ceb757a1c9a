import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { percentile, print } from "./support/report.ts";
import { StdioPeer } from "./support/stdio-peer.ts";

/**
 * The bundled server over stdio against a bare one of the same SDK (bench/support/bare-server.ts), turn by
 * turn in one run: process start to the answer of `tools/list`, and a call of `list_accounts`.
 *
 *   npx tsx bench/mcp.ts [starts] [calls]
 */
const STARTS = Number(process.argv[2] ?? 30);
const CALLS = Number(process.argv[3] ?? 4_000);
const CALLS_A_TURN = 100;
const ROOT = join(import.meta.dirname, "..");

/** Where the bundles find the native packages. */
const BUNDLES = join(ROOT, "node_modules", ".cache", `posthorn-bench-${process.pid}`);
const data = await mkdtemp(join(tmpdir(), "posthorn-bench-"));

const SERVERS = {
  bare: () => new StdioPeer([join(BUNDLES, "bare.js"), join(data, "bare.db")], {}),
  posthorn: () =>
    new StdioPeer([join(BUNDLES, "posthorn.js"), "stdio"], {
      POSTHORN_DATA_DIR: data,
      POSTHORN_LOG_LEVEL: "warn",
    }),
};
type Name = keyof typeof SERVERS;
const NAMES = ["bare", "posthorn"] as const;

async function buildBoth(): Promise<void> {
  await promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts", BUNDLES], {
    cwd: ROOT,
  });
  await build({
    entryPoints: [join(ROOT, "bench", "support", "bare-server.ts")],
    outfile: join(BUNDLES, "bare.js"),
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    external: ["better-sqlite3"],
  });
  // As in the installed package: without it Node compiles each file twice to learn what it is.
  await writeFile(join(BUNDLES, "package.json"), JSON.stringify({ type: "module" }));
}

async function timeStart(name: Name): Promise<number> {
  const from = performance.now();
  await using server = SERVERS[name]();
  await server.open();
  await server.listTools();
  return performance.now() - from;
}

/** Both servers at once, in turns: what else the machine does must not hit one of them alone. */
async function timeCalls(rounds: number): Promise<Record<Name, number[]>> {
  await using bare = SERVERS.bare();
  await using posthorn = SERVERS.posthorn();
  const peers = { bare, posthorn };
  const times: Record<Name, number[]> = { bare: [], posthorn: [] };
  for (const name of NAMES) await peers[name].open();
  for (let turn = 0; turn < rounds / CALLS_A_TURN; turn += 1) {
    for (const name of NAMES) times[name].push(...(await timeTurn(peers[name])));
  }
  return times;
}

async function timeTurn(server: StdioPeer): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < CALLS_A_TURN; call += 1) {
    const from = performance.now();
    await server.callTool("list_accounts");
    times.push(performance.now() - from);
  }
  return times;
}

function report(title: string, times: Record<Name, number[]>, limit: number): void {
  const rows = NAMES.map((name) => [
    name,
    ...[0, 50, 90].map((percent) => `${percentile(times[name], percent).toFixed(2)} ms`),
  ]);
  print([title, "min", "p50", "p90"], rows);
  const ratio = percentile(times.posthorn, 50) / percentile(times.bare, 50);
  process.stdout.write(`ratio of p50: ${ratio.toFixed(2)} (limit ${limit})\n\n`);
}

try {
  await buildBoth();
  for (const name of NAMES) await timeStart(name);
  const starts: Record<Name, number[]> = { bare: [], posthorn: [] };
  for (let turn = 0; turn < STARTS; turn += 1) {
    for (const name of NAMES) starts[name].push(await timeStart(name));
  }
  report("start to tools/list", starts, 1.4);
  const { bare, posthorn } = await timeCalls(CALLS);
  // The first calls run before anything is compiled.
  report("list_accounts", { bare: bare.slice(CALLS / 4), posthorn: posthorn.slice(CALLS / 4) }, 2);
} finally {
  await Promise.all([BUNDLES, data].map((folder) => rm(folder, { recursive: true, force: true })));
}
