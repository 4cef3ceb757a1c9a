import type { Claimed, Claims, ClaimWish } from "../engine/claims.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";
import {
  hasQuarantined,
  readCandidates,
  readNextAfter,
  takePosts,
} from "../queries/publishing/claiming.ts";
import { noteTime } from "../queries/publishing/clock-mark.ts";
import {
  abandon,
  failMissed,
  freeWorker,
  QUARANTINE_FROM,
  takeOver,
} from "../queries/publishing/release.ts";
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
  const found = await readCandidates(tx, findDue(rawOf(tx), { ...wish, now }));
  return { posts: await takePosts(tx, found, wish, now), isFull: found.length === wish.limit };
}

/** The account `a` may get a post; parameter: the moment. */
const FREE = "a.status IN ('connected', 'expiring') AND a.in_flight_post IS NULL AND a.next_allowed_at <= ?";

/** No other post of the account that is due comes before `p`; parameter: the moment. */
const FIRST_OF_ACCOUNT = `NOT EXISTS (
  SELECT 1 FROM posts h INDEXED BY posts_claim
  WHERE h.account_id = p.account_id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL
    AND h.next_at <= ? AND (h.due_at, h.id) < (p.due_at, p.id))`;

const WAITING = `FROM posts INDEXED BY posts_next WHERE next_at <= ? AND next_at IS NOT NULL AND lease_worker IS NULL`;

/** Parameter: 1 for posts in quarantine, 0 for the others. */
const WANTED = `(p.crashes >= ${QUARANTINE_FROM}) = ?`;

/**
 * Of the first that are due, those that can be had; parameters: moment, how many are looked at, moment,
 * moment, what is wanted, limit.
 */
const FIRST_DUE = `
  SELECT p.id AS id
  FROM (SELECT rowid AS place, next_at ${WAITING} ORDER BY next_at LIMIT ?) w
  CROSS JOIN posts p ON p.rowid = w.place CROSS JOIN accounts a ON a.id = p.account_id
  WHERE ${FREE} AND ${FIRST_OF_ACCOUNT} AND ${WANTED}
  ORDER BY p.next_at, p.due_at, p.id LIMIT ?`;

const COUNT_DUE = `SELECT COUNT(*) AS n FROM (SELECT 1 ${WAITING} LIMIT ?)`;

/**
 * The accounts with posts that wait. Walks from one to the next, so that the work does not grow with their
 * backlogs.
 */
const BUSY = `
  WITH RECURSIVE busy (account_id) AS (
    SELECT (SELECT account_id FROM posts INDEXED BY posts_claim WHERE next_at IS NOT NULL AND lease_worker IS NULL
            ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT p.account_id FROM posts p INDEXED BY posts_claim
            WHERE p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.account_id > busy.account_id ORDER BY p.account_id LIMIT 1)
    FROM busy WHERE busy.account_id IS NOT NULL`;

/** Whether there are more than a few; parameter: how many are a few, and one. */
const COUNT_BUSY = `${BUSY} LIMIT ?) SELECT COUNT(account_id) AS n FROM busy`;

/** The first due post of each account. */
const FIRST_OF_EACH = `${BUSY})
  SELECT p.id AS id
  FROM busy CROSS JOIN accounts a ON a.id = busy.account_id
  CROSS JOIN posts p ON p.id = (
    SELECT h.id FROM posts h INDEXED BY posts_claim
    WHERE h.account_id = busy.account_id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL AND h.due_at <= ? AND h.next_at <= ?
    ORDER BY h.due_at, h.id LIMIT 1)
  WHERE ${FREE} AND ${WANTED}
  ORDER BY p.next_at, p.due_at, p.id LIMIT ?`;

/** Posts looked at beyond those wanted, before it is cheaper to go from account to account. */
const LOOKED_AT_BESIDE = 50;

/** So few accounts are gone through at once. */
const FEW_ACCOUNTS = 50;

/**
 * The ids of the first due post of each account that can get one, first due first. Looks at the first that
 * are due; where too many of these cannot be had (one account's backlog, say), it goes from account to
 * account.
 */
function findDue(
  raw: SqliteDatabase,
  { now, limit, isQuarantined }: Pick<ClaimWish, "limit" | "isQuarantined"> & { readonly now: number },
): string[] {
  const wanted = isQuarantined ? 1 : 0;
  const lookedAt = limit + LOOKED_AT_BESIDE;
  const count = (text: string, ...parameters: number[]): number =>
    (raw.prepare(text).get(parameters) as { n: number }).n;
  const idsOf = (text: string, ...parameters: number[]): string[] =>
    (raw.prepare(text).all(parameters) as { id: string }[]).map(({ id }) => id);
  const walk = (): string[] => idsOf(FIRST_OF_EACH, now, now, now, wanted, limit);
  if (count(COUNT_BUSY, FEW_ACCOUNTS + 1) <= FEW_ACCOUNTS) return walk();
  const first = idsOf(FIRST_DUE, now, lookedAt, now, now, wanted, limit);
  return first.length === limit || count(COUNT_DUE, now, lookedAt) < lookedAt ? first : walk();
}

