import { sql } from "kysely";
import { SECOND } from "../../../domain/time.ts";
import { queryOf } from "../../engine/handle.ts";
import type { Reader, Tx } from "../../engine/store.ts";

export interface Leases {
  /** So long after its last sign of life what a worker holds is its own, whatever became of its lock. */
  readonly leaseMs: number;
  /**
   * So much longer where a step was under way: what it broke off when it lost its tie may have left its
   * machine, and reaches the platform within the time of a request.
   */
  readonly requestMs: number;
}

export const LEASES: Leases = { leaseMs: 60 * SECOND, requestMs: 30 * SECOND };

/** Milliseconds since 1970 by the database's clock, the same for all: the transaction's own time stands still. */
export const DATABASE_NOW = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** The advisory lock of a worker: its id is random, and so are 64 bits made of it. */
export function lockOf(workerId: string) {
  return sql`hashtextextended(${workerId}, 0)`;
}

/** Workers that have given no sign of life for longer than a lease, beside this one: dead, as far as one sees. */
export async function listSilent(reader: Reader, besides: string, { leaseMs }: Leases): Promise<string[]> {
  const rows = await queryOf(reader)
    .selectFrom("workers")
    .select("id")
    .where("id", "!=", besides)
    .where("heartbeat_at", "<", sql<number>`${DATABASE_NOW} - ${leaseMs}::bigint`)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Whether a worker is dead, for the transaction that takes over from it, and for no other until that ends:
 * false where it lives, may live, or somebody else takes over. After the server's restart all locks are free
 * at once, and the lease alone protects the living; a worker that stands still loses its lock and not its
 * lease.
 */
export async function isProvenDead(
  tx: Tx,
  workerId: string,
  { leaseMs, requestMs }: Leases = LEASES,
): Promise<boolean> {
  const query = queryOf(tx);
  const lock = await sql<{
    is_free: boolean;
  }>`SELECT pg_try_advisory_xact_lock(${lockOf(workerId)}) AS is_free`.execute(query);
  if (lock.rows[0]?.is_free !== true) return false;
  const open = query
    .selectFrom("posts")
    .innerJoin("effects", (join) =>
      join.onRef("effects.post_id", "=", "posts.id").onRef("effects.run", "=", "posts.run"),
    )
    .select("posts.id")
    .where("posts.lease_worker", "=", workerId)
    .where("effects.state", "=", "intent");
  const waits = sql<number>`CASE WHEN exists(${open}) THEN ${leaseMs + requestMs}::bigint ELSE ${leaseMs}::bigint END`;
  const dead = await query
    .selectFrom("workers")
    .select("id")
    .where("id", "=", workerId)
    .where("heartbeat_at", "<", sql<number>`${DATABASE_NOW} - ${waits}`)
    // It may be in the middle of a claim, which it ends or the server does.
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return dead !== undefined;
}
