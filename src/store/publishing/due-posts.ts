import { sql } from "kysely";
import type { Candidate, ClaimWish } from "../engine/claims.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import { queryOf } from "../engine/handle.ts";
import { POST_COLUMNS } from "../engine/post-columns.ts";
import type { Reader } from "../engine/store.ts";
import { QUARANTINE_FROM } from "./release.ts";

/** Which posts are due, and what is known of them. */

/** The account `a` may get a post; parameter: the moment. */
const FREE = "a.status IN ('connected', 'expiring') AND a.in_flight_post IS NULL AND a.next_allowed_at <= ?";

/** No other post of the account that is due comes before `p`; parameter: the moment. */
const FIRST_OF_ACCOUNT = `NOT EXISTS (
  SELECT 1 FROM posts h INDEXED BY posts_claim
  WHERE h.account_id = p.account_id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL
    AND h.next_at <= ? AND (h.due_at, h.sort_key) < (p.due_at, p.sort_key))`;

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
  ORDER BY p.next_at, p.due_at, p.sort_key LIMIT ?`;

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
    ORDER BY h.due_at, h.sort_key LIMIT 1)
  WHERE ${FREE} AND ${WANTED}
  ORDER BY p.next_at, p.due_at, p.sort_key LIMIT ?`;

/** Posts looked at beyond those wanted, before it is cheaper to go from account to account. */
const LOOKED_AT_BESIDE = 50;

/** So few accounts are gone through at once. */
const FEW_ACCOUNTS = 50;

/**
 * The ids of the first due post of each account that can get one, first due first. Looks at the first that
 * are due; where too many of these cannot be had (one account's backlog, say), it goes from account to
 * account.
 */
export function findDue(
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

/** Everything about these posts that working on them needs, in their order. */
export async function readCandidates(reader: Reader, ids: readonly string[]): Promise<Candidate[]> {
  const query = queryOf(reader);
  const rows = await query.selectFrom("posts").select(POST_COLUMNS).where("id", "in", ids).execute();
  const posts = new Map(rows.map((row) => [row.id, row]));
  const accountIds = rows.map((post) => post.account_id);
  const found = await query.selectFrom("accounts").selectAll().where("id", "in", accountIds).execute();
  const accounts = new Map(found.map((row) => [row.id, row]));
  const effects = await query.selectFrom("effects").selectAll().where("post_id", "in", ids).execute();
  const touched = new Set(effects.map((row) => row.post_id));
  return ids.flatMap((id) => {
    const post = posts.get(id);
    const account = post && accounts.get(post.account_id);
    if (post === undefined || account === undefined) return [];
    const own = touched.has(id) ? effects.filter((row) => row.post_id === id && row.run === post.run) : [];
    return [{ post, account, effects: own }];
  });
}

/**
 * When the first post after this moment wants attention; null when none waits. One before it may be held up
 * by its channel.
 */
export async function readNextAfter(reader: Reader, moment: number): Promise<number | null> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select(({ fn }) => fn.min("next_at").as("next"))
    .where("next_at", "is not", null)
    .where("lease_worker", "is", null)
    .where("next_at", ">", moment)
    .executeTakeFirst();
  return row?.next ?? null;
}

/** Whether a due post waits that one more crash makes fail. */
export async function hasQuarantined(reader: Reader, now: number): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select("id")
    .where("crashes", ">=", sql.lit(QUARANTINE_FROM))
    .where("next_at", "<=", now)
    .where("lease_worker", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
