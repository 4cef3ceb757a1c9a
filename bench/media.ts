import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

/**
 * A video from a source on loopback, through the product's media port, to a receiver on loopback, against
 * `curl | curl` on the same way in the same run. Every end is a process of its own. Prints ratios and the
 * peak of memory; decides nothing.
 *
 *   npx tsx bench/media.ts [MiB] [rounds]
 */
const MIB = 1024 * 1024;
const [large = 2_048, rounds = 3] = process.argv.slice(2).map(Number);
const small = Math.max(Math.round(large / 10), 100);

const run = promisify(execFile);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const script = (name: string): string => fileURLToPath(new URL(`support/${name}.ts`, import.meta.url));

interface End extends AsyncDisposable {
  readonly url: string;
}

const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));

/** Bundled, as the product is installed: a loader of TypeScript would count as memory. */
async function bundle(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  const require =
    'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';
  const options = {
    bundle: true,
    target: "node20.19",
    platform: "node" as const,
    format: "esm" as const,
    external: ["sharp"],
    banner: { js: require },
  };
  const clip = JSON.stringify(new URL("../test/fixtures/clip.mp4", import.meta.url).href);
  await build({ entryPoints: [script(name)], outfile, ...options, define: { CLIP: clip } });
  return outfile;
}

const [ends, piping] = await Promise.all([bundle("media-ends"), bundle("media-pipe")]);

async function startEnd(role: "source" | "sink", figure: number): Promise<End> {
  const child: ChildProcess = spawn(process.execPath, [ends, role, String(figure)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(child.stdout ?? child, "data")) as [Buffer];
  return {
    url: `http://127.0.0.1:${port.toString().trim()}/clip.mp4`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

interface Piped {
  readonly sent: number;
  readonly checkMs: number;
  readonly totalMs: number;
  readonly peakBytes: number;
  readonly cpuMs: number;
}

/** `chunkBytes`: the receiver takes so much at a time; 0: all at once. */
async function pipe(from: End, to: End, chunkBytes: number): Promise<Piped> {
  const { stdout } = await run(process.execPath, [piping, from.url, to.url, String(chunkBytes)]);
  return JSON.parse(stdout) as Piped;
}

async function curl(from: End, to: End): Promise<number> {
  const startedAt = performance.now();
  await run("sh", ["-c", `curl -sf '${from.url}' | curl -sf -T - -H 'Expect:' '${to.url}'`]);
  return performance.now() - startedAt;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const perSecond = (mib: number, ms: number): string => `${((mib / ms) * 1_000).toFixed(0)} MiB/s`;

async function compare(
  name: string,
  mib: number,
  options: { chunkBytes: number; sinkPerSecond: number },
): Promise<void> {
  await using from = await startEnd("source", mib * MIB);
  await using to = await startEnd("sink", options.sinkPerSecond);
  const floors: number[] = [];
  const pipes: Piped[] = [];
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await curl(from, to));
    pipes.push(await pipe(from, to, options.chunkBytes));
  }
  const floor = median(floors);
  const took = median(pipes.map(({ totalMs }) => totalMs));
  const peak = Math.max(...pipes.map(({ peakBytes }) => peakBytes)) / MIB;
  const cpu = median(pipes.map(({ cpuMs }) => cpuMs));
  if (pipes.some(({ sent }) => sent !== mib * MIB)) throw new Error("Not all of it arrived.");
  print(
    `${name.padEnd(34)} ${String(mib).padStart(5)} MiB   ${perSecond(mib, took)}, curl | curl ${perSecond(mib, floor)}, ` +
      `ratio ${(floor / took).toFixed(2)}   peak ${peak.toFixed(0)} MiB   processor ${(cpu / mib).toFixed(2)} ms a MiB`,
  );
}

for (const mib of [small, large]) {
  await compare("in one request", mib, { chunkBytes: 0, sinkPerSecond: 0 });
  await compare("in chunks of 8 MiB", mib, { chunkBytes: 8 * MIB, sinkPerSecond: 0 });
}
for (const mib of [small, Math.round(large / 2)]) {
  await compare("to a receiver of 100 MB/s", mib, { chunkBytes: 0, sinkPerSecond: 100_000_000 });
}
await rm(folder, { recursive: true });
