import { deadline } from "../../../domain/deadline.ts";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";

/**
 * One life of a server, from a start or a recovery to the next: `since` tells starts apart, and the processes
 * that are always there tell apart what a crash of one of them restarts.
 */
export interface ServerLife {
  readonly since: string;
  readonly processes: readonly number[];
}

/** The columns of a `ServerLife`; everybody may see as much. */
export const SERVER_LIFE = `pg_postmaster_start_time()::text AS since,
  ARRAY(SELECT pid FROM pg_stat_activity WHERE datid IS NULL AND usesysid IS NULL) AS processes`;

/** A transaction under way, as it can be asked for later. */
export interface Begun {
  readonly xid: string;
  readonly server: ServerLife;
}

/** Its COMMIT never arrived, and its connection is lost: it would hold its locks until it is found out. */
const END_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = $1::xid8::xid AND state LIKE 'idle in transaction%'`;

export type Outcome = "committed" | "aborted" | "unknown";

interface AskOptions {
  /** A new connection to the server itself. */
  readonly connect: () => Promise<Client>;
  readonly withinMs: number;
}

/**
 * What became of a transaction whose COMMIT got no answer. Asks on new connections until it is over, or
 * `withinMs` have passed.
 */
export async function askOutcome(begun: Begun, { connect, withinMs }: AskOptions): Promise<Outcome> {
  const late = deadline(withinMs);
  for (let pauseMs = 20; !late.aborted; pauseMs = Math.min(500, pauseMs * 2)) {
    try {
      const client = await connect();
      try {
        const outcome = await look(client, begun);
        if (outcome !== null) return outcome;
      } finally {
        // Not waited for: it does not end where the network has fallen silent.
        void client.end().catch(() => {});
      }
    } catch {
      // The server may be restarting: asked again.
    }
    await pause(pauseMs);
  }
  return "unknown";
}

async function look(client: Client, { xid, server }: Begun): Promise<Outcome | null> {
  const lives = await client.query<ServerLife>(`SELECT ${SERVER_LIFE}`);
  // A number of which the log holds no record is given again after a crash, and by another server anyway.
  if (!isSameLife(server, lives.rows[0])) return "unknown";
  const statuses = await client.query<{ status: string | null }>(
    "SELECT pg_xact_status($1::xid8) AS status",
    [xid],
  );
  const status = statuses.rows[0]?.status;
  if (status === "committed" || status === "aborted") return status;
  if (status !== "in progress") return "unknown";
  await client.query(END_IDLE, [xid]);
  return null;
}

function isSameLife(one: ServerLife, other: ServerLife | undefined): boolean {
  return one.since === other?.since && one.processes.some((pid) => other.processes.includes(pid));
}
