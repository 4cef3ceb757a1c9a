import type { ConnectionOptions } from "../../../src/store/postgres/connect/connections.ts";

/** The proportions of the real ones, so that a take-over takes seconds. */
export const TIMES = { beatEveryMs: 200, answerWithinMs: 900, silentMs: 1_600 };
export const LEASES = { leaseMs: 1_300, stopsMs: 900, leaseElsewhereMs: 1_900, requestMs: 500 };

/**
 * What a host whose network has fallen silent waits for is over sooner. The server ends an idle transaction only
 * after 10 s, as ever, and here long after the lease: what holds must not hang on that.
 */
export const LIMITS = { connectMs: 3_000, statementMs: 4_000, lockMs: 3_000, silentMs: 1_000 };

/** SIGKILL, SIGSTOP, or an event loop that computes until others take it for dead, and then as long again. */
export type Happening = "kill" | "stop" | "block";

const WRITES = ["claim", "intent", "handle", "asked", "result", "end", "takeover"];
const REQUESTS = ["change:sending", "change:answered", "read:sending", "read:answered"];

/** Places of the protocol at which something can happen to a worker. */
export const POINTS = [
  ...WRITES.flatMap((name) => ["written", "committing", "durable"].map((when) => `${name}:${when}`)),
  ...REQUESTS,
];

/** Those that only somebody comes to who goes on with what another left. */
export const AFTER_A_DEATH = /^(takeover|asked|read)/;

/** What a worker is told, as JSON. */
export interface WorkerTask {
  /** As DATABASE_URL takes it. */
  readonly url: string;
  /** Of the platforms. */
  readonly baseUrl: string;
  /** The master key, in hex. */
  readonly key: string;
  /** At which something happens to it. Default: nothing does. */
  readonly point?: string;
  readonly hit?: number;
  readonly what?: Happening;
  readonly host?: string;
  /** How wrong this machine's clock is. */
  readonly clockErrorMs?: number;
  readonly size?: ConnectionOptions["size"];
  /** All time limits as they are in earnest. */
  readonly hasRealTimes?: boolean;
  /** After which it ends although something waits. */
  readonly giveUpMs?: number;
}
