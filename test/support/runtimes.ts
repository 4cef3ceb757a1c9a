import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { plainEnvironment } from "./workspace.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MODULES = join(ROOT, "test", "runtimes", "node_modules");

/** The releases that Posthorn runs on, each with the npm that its users have. */
export const RUNTIMES = [
  { release: "20", node: process.execPath, npm: join(MODULES, "npm11"), hasBuiltInSqlite: false },
  {
    release: "22",
    node: join(MODULES, "node22", "bin", "node"),
    npm: join(MODULES, "npm12"),
    hasBuiltInSqlite: true,
  },
  {
    release: "24",
    node: join(MODULES, "node24", "bin", "node"),
    npm: join(MODULES, "npm12"),
    hasBuiltInSqlite: true,
  },
] as const;

export type Runtime = (typeof RUNTIMES)[number];

/** An environment in which `node` is this release. */
export function environmentOf(runtime: Runtime, folder: string): Record<string, string> {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(runtime.node, join(bin, "node"));
  return { ...plainEnvironment(), PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` };
}

/** Packs what would be published, and answers the file. */
export async function packTarball(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: ROOT,
    env: plainEnvironment(),
    maxBuffer: 10_000_000,
  });
  const name = /"filename": "([^"]+)"/.exec(stdout)?.[1];
  if (name === undefined) throw new Error(`npm pack answered ${stdout}`);
  return join(folder, name);
}
