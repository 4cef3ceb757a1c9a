import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const ROOT = join(import.meta.dirname, "..", "..");

declare module "vitest" {
  interface ProvidedContext {
    /** The program as it is published, built once for a run: its entry, with its chunks beside it. */
    readonly program: string;
  }
}

export async function setup({ provide }: TestProject): Promise<() => void> {
  const program = await buildProgram();
  provide("program", program.file);
  return () => program[Symbol.dispose]();
}

export async function buildProgram(): Promise<{ readonly file: string } & Disposable> {
  // Below `node_modules`, where it finds the native packages that stay outside of it.
  const folder = join(ROOT, "node_modules", ".cache", `posthorn-program-${process.pid}`);
  await promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts", folder], { cwd: ROOT });
  return {
    file: join(folder, "posthorn.js"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
