import type { ChildProcess } from "node:child_process";
import type { Worker } from "node:worker_threads";

/**
 * Starts more of this program; only `src/main.ts` knows the file to run. Threads are null where it runs from
 * its sources: not every release of Node starts one from TypeScript.
 */
export interface Threads {
  /** Runs `runPublisherThread`; `data` is copied. */
  readonly startPublisher: StartThread | null;
  /** Runs `runWatchdog`; `data` is copied, its memory shared. */
  readonly startWatchdog: StartThread | null;
  /** Runs `runMediaReader` in a process with little memory and no secrets: what it reads may be hostile. */
  startMediaReader(): ChildProcess;
}

export type StartThread = (data: unknown) => Worker;
