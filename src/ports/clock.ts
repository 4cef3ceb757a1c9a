/** All time comes from here; tests move it by hand. */
export interface Clock {
  /** Wall clock, milliseconds since 1970 UTC. */
  now(): number;
  /** A clock that never jumps, in milliseconds, for measuring spans. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Does `work` after `ms`, unless the function that it returns is called first. */
  after(ms: number, work: () => void): () => void;
}
