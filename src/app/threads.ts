import type { Worker } from "node:worker_threads";

/** Starts threads of this program; only `src/main.ts` knows the file to run. */
export interface Threads {
  /** Runs `runPublisherThread`; `data` is copied. */
  startPublisher(data: unknown): Worker;
  /** Runs `runWatchdog`; `data` is copied, its memory shared. */
  startWatchdog(data: unknown): Worker;
  /** Runs `runTracksThread`, with little memory: what it reads may be hostile. */
  startTracks(): Worker;
}
