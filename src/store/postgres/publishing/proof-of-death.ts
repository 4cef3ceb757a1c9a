import { createHash } from "node:crypto";
import { SECOND } from "../../../domain/time.ts";
import { rowOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";

/** How long a worker counts as living after its last heartbeat, whatever became of its connections. */
export const LEASE_MS = 60 * SECOND;
/** Longer than what it had sent before that may still be on its way. */
export const REQUEST_MS = 30 * SECOND;

/**
 * The number of the advisory lock that a worker holds while it lives. Not below zero, where the locks of
 * moments are.
 */
export function workerLockKey(workerId: string): bigint {
  return createHash("sha256").update(workerId).digest().readBigUInt64BE() >> 1n;
}

const TRY_LOCK = "SELECT pg_try_advisory_xact_lock($1::bigint) AS is_free";

/** By the server's clock, as the heartbeat is. */
const IS_OVER = `
  SELECT 1 FROM workers w
  WHERE w.id = $1 AND w.heartbeat_at + $2::bigint + CASE WHEN EXISTS (
      SELECT 1 FROM posts p JOIN effects e ON e.post_id = p.id AND e.run = p.run
      WHERE p.lease_worker = w.id AND e.state = 'intent')
    THEN $3::bigint ELSE 0 END <= extract(epoch FROM clock_timestamp()) * 1000`;

/**
 * Proves, for as long as the transaction lasts, that the worker is dead and that nobody else takes over from
 * it. The lock alone proves little: after a restart or a failover of the server nobody holds one, so the lease
 * protects the living. Where something of its posts may be on its way to a platform, one more request must
 * have run out: what arrives later must not meet the same post sent again.
 */
export async function isProvenDead(tx: Tx, workerId: string): Promise<boolean> {
  const lock = await rowOf<{ is_free: boolean }>(tx, TRY_LOCK, [workerLockKey(workerId)]);
  if (lock?.is_free !== true) return false;
  return (await rowOf(tx, IS_OVER, [workerId, LEASE_MS, REQUEST_MS])) !== undefined;
}
