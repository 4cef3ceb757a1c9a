import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "..", "..");
export const KEY = "a-key-of-this-measurement-alone-0123456789";

/** Bundles of this run, below `node_modules`, where they find the native packages; gone with it. */
export async function buildBundles(): Promise<AsyncDisposable & { readonly posthorn: string }> {
  const folder = join(ROOT, "node_modules", ".cache", `posthorn-bench-${process.pid}`);
  await promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts", folder], { cwd: ROOT });
  return {
    posthorn: join(folder, "posthorn.js"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface Running extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Starts a server and waits for the address that it prints. */
export async function startProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [greeting] = (await once(child.stdout, "data")) as [Buffer];
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(greeting.toString())?.[0];
  if (url === undefined) throw new Error(`The server did not say where it listens: ${greeting.toString()}`);
  return { url, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => end(child) };
}

export function startPosthorn(bundle: string, folder: string): Promise<Running> {
  return startProcess([bundle, "serve"], {
    POSTHORN_DATA_DIR: folder,
    POSTHORN_PORT: "0",
    POSTHORN_API_KEY: KEY,
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_RATE_LIMIT: "100000000",
  });
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** A tool's result over HTTP. Throws its sentence when it fails. */
export async function callTool(server: Running, tool: string, args: object): Promise<unknown> {
  const answer = await fetch(`${server.url}/api/v1/tools/${tool}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(args),
  });
  const { result, error } = (await answer.json()) as { result: unknown; error?: string };
  if (error !== undefined) throw new Error(error);
  return result;
}
