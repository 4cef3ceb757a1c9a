import { ChildProcess } from "node:child_process";
import { expect } from "vitest";

const { spawn } = ChildProcess.prototype as unknown as { spawn(options: { file: string }): unknown };

/**
 * The unit run is quick because it starts none: a file that does belongs to the run of processes. The bundler is a
 * library whose other half is a process, one for a run's worker.
 */
Object.defineProperty(ChildProcess.prototype, "spawn", {
  value(this: ChildProcess, options: { file: string }) {
    if (options.file.endsWith("/esbuild")) return spawn.call(this, options);
    throw new Error(`${expect.getState().testPath} starts a process. Name it *.process.test.ts.`);
  },
});
