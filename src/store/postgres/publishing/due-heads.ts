import type { ClaimWish } from "../../engine/claims.ts";
import { rowOf, rowsOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";
import { QUARANTINE_FROM } from "../../publishing/release.ts";

/*
 * Which posts are due, on PostgreSQL. Statistics of a queue are always stale: the planner takes the partial
 * indexes of waiting posts for nearly empty, and would walk them once for each row. What must not be looked up
 * by them is written so that they do not fit: `next_at + 0`, and no `lease_worker IS NULL` beside an id.
 */

/** The account `a` may get a post; $1 is the moment. */
export const FREE =
  "a.status IN ('connected', 'expiring') AND a.in_flight_post IS NULL AND a.next_allowed_at <= $1";

/** The first due post `h` of the account that the column names; only posts_claim fits. $1 is the moment. */
export function firstOf(account: string): string {
  return `FROM posts h
    WHERE h.account_id = ${account} AND h.next_at IS NOT NULL AND h.lease_worker IS NULL
      AND h.due_at <= $1 AND h.next_at + 0 <= $1
    ORDER BY h.due_at, h.sort_key LIMIT 1`;
}

/** Posts in quarantine, or the others: $3. */
const WANTED = `(p.crashes >= ${QUARANTINE_FROM}) = $3::boolean`;

const COLUMNS = "id, account_id, crashes, next_at, due_at, sort_key";
const WAITING = "FROM posts WHERE next_at <= $1 AND next_at IS NOT NULL AND lease_worker IS NULL";

/** Of the first that are due, those that can be had. $2: limit, $4: how many are looked at. */
const FIRST_DUE = `
  SELECT p.id FROM (SELECT ${COLUMNS} ${WAITING} ORDER BY next_at LIMIT $4) p JOIN accounts a ON a.id = p.account_id
  WHERE ${FREE} AND ${WANTED} AND p.id = (SELECT h.id ${firstOf("p.account_id")})
  ORDER BY p.next_at, p.due_at, p.sort_key LIMIT $2`;

const COUNT_DUE = `SELECT count(*)::int AS n FROM (SELECT 1 ${WAITING} LIMIT $2) w`;

/**
 * The first due post of each account with posts that wait. Walks from one account to the next, so that the
 * work does not grow with their backlogs; sorted by the whole of posts_claim, which no other index is.
 */
const FIRST_OF_EACH = `
  WITH RECURSIVE busy (account_id) AS (
    (SELECT account_id FROM posts WHERE next_at IS NOT NULL AND lease_worker IS NULL
     ORDER BY account_id, due_at, sort_key LIMIT 1)
    UNION ALL
    SELECT (SELECT n.account_id FROM posts n
            WHERE n.next_at IS NOT NULL AND n.lease_worker IS NULL AND n.account_id > busy.account_id
            ORDER BY n.account_id, n.due_at, n.sort_key LIMIT 1)
    FROM busy WHERE busy.account_id IS NOT NULL)
  SELECT p.id FROM busy JOIN accounts a ON a.id = busy.account_id
  JOIN LATERAL (SELECT ${COLUMNS} ${firstOf("busy.account_id")}) p ON true
  WHERE ${FREE} AND ${WANTED}
  ORDER BY p.next_at, p.due_at, p.sort_key LIMIT $2`;

/** Posts looked at beyond those wanted, before it is cheaper to go from account to account. */
const LOOKED_AT_BESIDE = 50;

/** The ids of the first due post of each account that can get one, first due first; locks nothing. */
export async function findDue(
  tx: Tx,
  { now, limit, isQuarantined }: Pick<ClaimWish, "limit" | "isQuarantined"> & { readonly now: number },
): Promise<string[]> {
  const lookedAt = limit + LOOKED_AT_BESIDE;
  const first = await rowsOf<{ id: string }>(tx, FIRST_DUE, [now, limit, isQuarantined, lookedAt]);
  const isEnough = first.length === limit || (await countDue(tx, now, lookedAt)) < lookedAt;
  const found = isEnough
    ? first
    : await rowsOf<{ id: string }>(tx, FIRST_OF_EACH, [now, limit, isQuarantined]);
  return found.map(({ id }) => id);
}

async function countDue(tx: Tx, now: number, limit: number): Promise<number> {
  return (await rowOf<{ n: number }>(tx, COUNT_DUE, [now, limit]))?.n ?? 0;
}
