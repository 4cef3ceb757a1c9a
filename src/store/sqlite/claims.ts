import type { Claimed, Claims, ClaimWish } from "../engine/claims.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { hasQuarantined, readCandidates, readNextAfter, takePosts } from "../queries/publishing/claiming.ts";
import { noteTime } from "../queries/publishing/clock-mark.ts";
import { abandon, failMissed, freeWorker, QUARANTINE_FROM, takeOver } from "../queries/publishing/release.ts";
import { noteUnusable } from "../queries/publishing/unusable-posts.ts";
import type { SqliteDatabase } from "./driver.ts";
import { rawOf } from "./handle.ts";

/**
 * SQLite's way to claim: one writer at a time, so that what is read in the transaction is so until it ends.
 */
export function createClaims(store: Reader & Pick<Store, "write">): Claims {
  const { write } = store;
  return {
    nextAfter: (moment) => readNextAfter(store, moment),
    hasQuarantined: (now) => hasQuarantined(store, now),
    claim: (wish) => write((tx) => claimDue(tx, wish)),
    failMissed: (cutoff) => write((tx) => failMissed(tx, cutoff)),
    noteUnusable: (note) => write((tx) => noteUnusable(tx, note)),
    freeWorker: (workerId, now) => write((tx) => freeWorker(tx, workerId, now)),
    takeOver: (workerId, now) => write((tx) => takeOver(tx, workerId, now)),
    abandon: (leases, now) =>
      write(async (tx) => {
        for (const lease of leases) await abandon(tx, lease, now);
      }),
    noteTime: (now, toleranceMs) => write((tx) => noteTime(tx, now, toleranceMs)),
  };
}

async function claimDue(tx: Tx, wish: ClaimWish): Promise<Claimed> {
  const now = wish.now();
  const found = await readCandidates(tx, findDue(rawOf(tx), wish, now));
  return { posts: await takePosts(tx, found, wish, now), isFull: found.length === wish.limit };
}

/**
 * The first due post of each account that can get one. One look at an index for each account: the work does not grow
 * with their backlogs. Parameters: moment, moment, moment, 1 for posts in quarantine and 0 for others, limit.
 */
const FIRST_OF_EACH = `
  SELECT p.id AS id
  FROM accounts a CROSS JOIN posts p ON p.id = (
    SELECT h.id FROM posts h INDEXED BY posts_claim
    WHERE h.account_id = a.id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL AND h.due_at <= ? AND h.next_at <= ?
    ORDER BY h.due_at, h.id LIMIT 1)
  WHERE a.status IN ('connected', 'expiring') AND a.in_flight_post IS NULL AND a.next_allowed_at <= ?
    AND (p.crashes >= ${QUARANTINE_FROM}) = ?
  ORDER BY p.next_at, p.due_at, p.id LIMIT ?`;

/** Their ids, first due first. */
function findDue(raw: SqliteDatabase, { limit, isQuarantined }: ClaimWish, now: number): string[] {
  const rows = raw.prepare(FIRST_OF_EACH).all([now, now, now, isQuarantined ? 1 : 0, limit]);
  return (rows as { id: string }[]).map(({ id }) => id);
}
