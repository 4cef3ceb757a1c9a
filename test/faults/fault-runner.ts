import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { fromStored } from "../../src/domain/sentences.ts";
import { agentsWords } from "../../src/toolkit/words.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { freshDatabase } from "../support/fresh-schema.ts";
import { openStore } from "../../src/store/open-store.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { queryOf } from "../support/handles.ts";

const built = new Map<string, Promise<string>>();

/**
 * Bundles the worker once for all files of this process, libraries and all: loading them file by file takes longer
 * than the run. Natives stay outside.
 */
export function buildWorker(name: string, from = import.meta.dirname): Promise<string> {
  const entry = join(from, `${name}.ts`);
  const known = built.get(entry) ?? bundleWorker(entry);
  built.set(entry, known);
  return known;
}

async function bundleWorker(entry: string): Promise<string> {
  const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "posthorn-test");
  await mkdir(folder, { recursive: true });
  const outfile = join(folder, `${basename(entry, ".ts")}-${process.pid}.mjs`);
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    minify: true,
    // Newer syntax than the oldest Node has.
    target: "node20.19",
    external: ["better-sqlite3", "pg-native", "sharp"],
    // Libraries in CommonJS ask for Node's modules by require.
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  process.once("exit", () => rmSync(outfile, { force: true }));
  return outfile;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface RunningWorker {
  readonly child: ChildProcess;
  /** It publishes, or has ended. */
  readonly ready: Promise<void>;
  /** What it has said so far. */
  said(): string;
  /** True once the point is reached at which something happens to it, false when it ends without. */
  readonly reached: Promise<boolean>;
  readonly exit: Promise<Exit>;
}

/** A test that failed leaves nobody behind, least of all one that is stopped. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Runs the worker until it ends, by itself or by its own kill. */
export function runWorker(
  worker: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningWorker {
  const child = spawn(process.execPath, [worker, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  let stdout = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const hears = (word: string): Promise<boolean> =>
    new Promise((resolve) => {
      child.stdout?.on("data", () => stdout.includes(word) && resolve(true));
      child.once("close", () => resolve(false));
    });
  const ready = hears("publishing").then(() => {});
  const reached = hears("reached");
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exit = new Promise<Exit>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stderr })),
  );
  return { child, ready, reached, exit, said: () => stdout };
}

interface DataFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * A data folder, in `parent` if given, with posts that are due now, each on the account given by its place.
 */
export async function makeDataFolder(
  provider: string,
  posts: { readonly count: number; readonly accounts: number },
  parent = tmpdir(),
): Promise<DataFolder> {
  const path = await mkdtemp(join(parent, "posthorn-fault-"));
  await writeFile(join(path, "key"), randomBytes(32), { mode: 0o600 });
  await writeFile(join(path, "posthorn.db"), await freshDatabase());
  await using ctx = await openFolder(path);
  const accounts = [];
  for (let n = 0; n < posts.accounts; n++)
    accounts.push(await addAccount(ctx, { provider, name: `Channel ${n}` }));
  const due = Date.now() - 50;
  for (let n = 0; n < posts.count; n++) {
    const account = accounts[n % accounts.length];
    if (account !== undefined)
      await addPost(ctx, account, { caption: `post ${n}`, scheduled_at: due, due_at: due, next_at: due });
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function openFolder(path: string): Promise<TestContext> {
  return createTestContext({ store: await openStore({ file: join(path, "posthorn.db") }) });
}

export interface FinalPost {
  readonly caption: string;
  readonly status: string;
  readonly inDoubt: boolean;
  readonly error: string | null;
}

export async function readOutcome(path: string): Promise<FinalPost[]> {
  await using ctx = await openFolder(path);
  const rows = await queryOf(ctx.store)
    .selectFrom("posts")
    .select(["caption", "status", "in_doubt", "error"])
    .orderBy("caption")
    .execute();
  return rows.map((row) => ({
    caption: row.caption ?? "",
    status: row.status,
    inDoubt: row.in_doubt === 1,
    error: row.error === null ? null : agentsWords(fromStored(row.error)),
  }));
}

/** What the run got wrong, in words; empty when it kept every promise. */
export function judge(
  posts: readonly FinalPost[],
  visible: ReadonlyMap<string, number>,
  mayBeUnknown: boolean,
): string[] {
  const wrong: string[] = [];
  for (const post of posts) {
    const count = visible.get(post.caption) ?? 0;
    if (count > 1) wrong.push(`${post.caption}: published ${count} times`);
    if (post.status === "published" && count === 0)
      wrong.push(`${post.caption}: called published and is nowhere`);
    if (post.status !== "published" && post.status !== "failed")
      wrong.push(`${post.caption}: left as ${post.status}`);
    // Of four kills in a row, none of which the post caused, a process cannot tell: it says what it saw.
    const isCrashLoop = post.error?.includes("ended 4 times in a row") ?? false;
    if (post.status === "failed" && !post.inDoubt && !isCrashLoop)
      wrong.push(`${post.caption}: lost (${post.error ?? ""})`);
    if (post.status === "failed" && post.inDoubt && !mayBeUnknown && !isCrashLoop)
      wrong.push(`${post.caption}: called unknown (${post.error ?? ""})`);
  }
  return wrong;
}
