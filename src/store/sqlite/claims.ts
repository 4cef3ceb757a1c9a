import type { Queue } from "../engine/engine.ts";
import { rowsOf } from "../engine/statements.ts";
import { QUARANTINE_FROM } from "../queries/publishing/release.ts";

/**
 * The first due post of each free account. It looks at the index once an account, so that the work does not
 * grow with their backlogs. Parameters: moment, moment, moment, 1 for posts in quarantine or 0 for others, limit.
 */
const FIRST_OF_EACH = `
  SELECT p.id AS id
  FROM accounts a CROSS JOIN posts p ON p.id = (
    SELECT h.id FROM posts h INDEXED BY posts_claim
    WHERE h.account_id = a.id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL AND h.due_at <= ? AND h.next_at <= ?
    ORDER BY h.due_at, h.id LIMIT 1)
  WHERE a.status IN ('connected', 'expiring') AND a.paused = 0 AND a.in_flight_post IS NULL AND a.next_allowed_at <= ?
    AND (p.crashes >= ${QUARANTINE_FROM}) = ?
  ORDER BY p.next_at, p.due_at, p.id LIMIT ?`;

/** SQLite has one writer: what a transaction has read stays so until it ends. */
export const queue: Queue = {
  findDue: async (tx, { limit, isQuarantined }, now) => {
    const values = [now, now, now, isQuarantined ? 1 : 0, limit];
    return (await rowsOf<{ id: string }>(tx, FIRST_OF_EACH, values)).map(({ id }) => id);
  },
  // The worker's lock, which the kernel has given up, was the proof. Its sockets went with it.
  death: async () => ({ arrivedAt: -Infinity }),
};
