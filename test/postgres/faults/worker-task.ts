/** The proportions of the real ones, so that a take-over takes seconds. */
export const TIMES = { beatEveryMs: 200, answerWithinMs: 900, silentMs: 1_600 };
export const LEASES = { leaseMs: 1_300, stopsMs: 900, leaseElsewhereMs: 1_900, requestMs: 500 };

/**
 * What a host whose network has fallen silent waits for is over sooner. The server ends an idle transaction only
 * after 10 s, as ever, and here long after the lease: what holds must not hang on that.
 */
export const LIMITS = { connectMs: 3_000, statementMs: 4_000, lockMs: 3_000, silentMs: 1_000 };

/** What a worker is told, as JSON. */
export interface WorkerTask {
  /** As DATABASE_URL takes it. */
  readonly url: string;
  /** Of the platforms. */
  readonly baseUrl: string;
  /** The master key, in hex. */
  readonly key: string;
  /** Comes to it when a change that it sent for the second time is answered. Default: nothing does. */
  readonly what?: "SIGKILL" | "SIGSTOP";
  readonly host?: string;
}
