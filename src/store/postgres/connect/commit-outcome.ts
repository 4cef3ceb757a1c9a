import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import { codeOf } from "../../../domain/errors.ts";

/** A transaction under way, as it can be asked for later. */
export interface Begun extends Place {
  readonly xid: string;
}

/** Where a server is in its history. */
interface Place {
  readonly timeline: string;
  readonly checkpoint: string;
}

/**
 * The columns of a `Place`. The checkpoint, because a number that no record of the log bears is given again
 * after a crash, and each recovery ends with one. Where a service does not tell of its log, a restart counts
 * as another timeline.
 */
export const PLACES: readonly string[] = [
  `left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline,
  (SELECT checkpoint_lsn::text FROM pg_control_checkpoint()) AS checkpoint`,
  `pg_postmaster_start_time()::text AS timeline, '' AS checkpoint`,
];

/** Part of the text that begins a transaction: no round trip more. */
export function begun(place: string): string {
  return `SELECT pg_current_xact_id()::text AS xid, ${place}`;
}

/** Its COMMIT never arrived, and its connection is lost: it would hold its locks until it is found out. */
const END_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = $1::xid8::xid AND state LIKE 'idle in transaction%'`;

export type Outcome = "committed" | "aborted" | "unknown";

interface AskOptions {
  readonly place: string;
  /** A new connection to the server itself. */
  readonly connect: () => Promise<Client>;
  readonly withinMs: number;
}

/** Of a number that was never given, as far as the server knows. */
const IN_THE_FUTURE = "22023";

/**
 * What became of a transaction whose COMMIT got no answer. Asks on new connections until it is over, or
 * `withinMs` have passed.
 */
export async function askOutcome(begun: Begun, { place, connect, withinMs }: AskOptions): Promise<Outcome> {
  const late = AbortSignal.timeout(withinMs);
  for (let pauseMs = 20; !late.aborted; pauseMs = Math.min(500, pauseMs * 2)) {
    try {
      const client = await connect();
      try {
        const outcome = await look(client, begun, place);
        if (outcome !== null) return outcome;
      } finally {
        await client.end();
      }
    } catch {
      // The server may be restarting: asked again.
    }
    await pause(pauseMs);
  }
  return "unknown";
}

async function look(client: Client, begun: Begun, place: string): Promise<Outcome | null> {
  const { rows } = await client.query<Place>(`SELECT ${place}`);
  const [now] = rows;
  // After a failover the number may belong to another transaction.
  if (now?.timeline !== begun.timeline) return "unknown";
  const status = await readStatus(client, begun.xid);
  if (status === "aborted") return "aborted";
  if (status === "committed") return now.checkpoint === begun.checkpoint ? "committed" : "unknown";
  if (status === null) return "unknown";
  await client.query(END_IDLE, [begun.xid]);
  return null;
}

async function readStatus(client: Client, xid: string): Promise<string | null> {
  try {
    const { rows } = await client.query<{ status: string | null }>(
      "SELECT pg_xact_status($1::xid8) AS status",
      [xid],
    );
    return rows[0]?.status ?? null;
  } catch (error) {
    // The log of a crashed server knows nothing of it, so it was not committed.
    if (codeOf(error) === IN_THE_FUTURE) return "aborted";
    throw error;
  }
}
