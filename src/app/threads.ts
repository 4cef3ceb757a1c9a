import type { ChildProcess } from "node:child_process";
import type { Worker } from "node:worker_threads";

/** Starts more of this program; only `src/main.ts` knows the file to run. */
export interface Threads {
  /** Runs `runPublisherThread` in a thread; `data` is copied. Null where everything shares one thread. */
  readonly startPublisher: ((data: unknown) => Worker) | null;
  /** Runs `runMediaReader` in a process with little memory and no secrets: what it reads may be hostile. */
  startMediaReader(): ChildProcess;
}
