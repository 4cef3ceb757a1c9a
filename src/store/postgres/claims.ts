import type { ClaimWish } from "../engine/claims.ts";
import type { Tx } from "../engine/engine.ts";
import { Fenced } from "../engine/ledger.ts";
import { rowsOf } from "../engine/statements.ts";
import { QUARANTINE_FROM } from "../queries/publishing/release.ts";

/*
 * Any number of workers claim at once, each what no other one is claiming, in a transaction of READ COMMITTED.
 * The account's row is the lock of "one post in flight". A claim waits for no other: it skips locked rows. What
 * it reads of a post it reads after locking it.
 */

/** So many times the limit are looked at first, so that workers that look together each find something. */
const FIRST_SPAN = 3;
/** Where others had all of it, so many times more are looked at. */
const WIDER = 4;

export async function findDue(tx: Tx, wish: ClaimWish, now: number): Promise<string[]> {
  const listed = await rowsOf(tx, BEGIN_CLAIM, [wish.workerId]);
  if (listed.length === 0) throw new Fenced("all posts of this worker");
  const { limit, isQuarantined } = wish;
  for (let span = FIRST_SPAN * limit; ; span *= WIDER) {
    const heads = await rowsOf<{ id: string }>(tx, FIRST_OF_EACH, [now, span, isQuarantined]);
    if (heads.length === 0) return [];
    const locked = await rowsOf<{ id: string }>(tx, LOCK, [now, heads.map(({ id }) => id), limit]);
    if (locked.length === limit || heads.length < span) return locked.map(({ id }) => id);
  }
}

/**
 * The lock on the worker's row: a take-over waits until this claim has ended. Otherwise it would miss posts
 * that are being claimed, and they would wait for a dead worker for ever.
 * The settings, for this transaction: the statistics of a queue are always stale, and by them the planner takes
 * the small partial indexes for empty and walks them once a row.
 */
const BEGIN_CLAIM = `
  SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_sort', 'off', true), set_config('jit', 'off', true)
  FROM workers WHERE id = $1 FOR KEY SHARE`;

/*
 * Two forms keep the planner from an index: `next_at + 0`, and no `lease_worker IS NULL` beside an id.
 */

/** The account `a` may get a post. $1: the moment. */
const FREE =
  "a.status IN ('connected', 'expiring') AND a.paused = 0 AND a.in_flight_post IS NULL AND a.next_allowed_at <= $1";

/** The first due post `h` of the account in this column. Only the index posts_claim fits. $1: the moment. */
function firstOf(account: string): string {
  return `FROM posts h
    WHERE h.account_id = ${account} AND h.next_at IS NOT NULL AND h.lease_worker IS NULL
      AND h.due_at <= $1 AND h.next_at + 0 <= $1
    ORDER BY h.due_at, h.id LIMIT 1`;
}

/**
 * The first due post of each free account, first due first, without a lock. It looks at the index once an
 * account, so that the work does not grow with their backlogs. $2: limit. $3: posts in quarantine, or the others.
 */
const FIRST_OF_EACH = `
  SELECT p.id FROM accounts a
  JOIN LATERAL (SELECT id, crashes, next_at, due_at ${firstOf("a.id")}) p ON true
  WHERE ${FREE} AND (p.crashes >= ${QUARANTINE_FROM}) = $3::boolean
  ORDER BY p.next_at, p.due_at, p.id LIMIT $2`;

/**
 * NO KEY UPDATE: plain FOR UPDATE would hold up new posts of the account, whose foreign key locks its row.
 * The conditions are repeated, because PostgreSQL checks them again on rows that were changed meanwhile.
 */
const LOCK = `
  SELECT p.id FROM unnest($2::text[]) WITH ORDINALITY u (id, place)
  JOIN posts p ON p.id = u.id JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at + 0 <= $1 AND coalesce(p.lease_worker, '') = '' AND ${FREE}
    AND p.id = (SELECT h.id ${firstOf("p.account_id")})
  ORDER BY u.place LIMIT $3 FOR NO KEY UPDATE OF a, p SKIP LOCKED`;
