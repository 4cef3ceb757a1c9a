import type { SqliteDatabase } from "../engine/driver.ts";
import type { EffectRow } from "./ledger.ts";
import { POST_COLUMNS, type PostRow } from "../tables/posts.ts";
import type { Tables } from "../engine/schema.ts";

/** Which posts are due, and what is known of them: raw statements that write nothing. */

/** A post that may be taken up, with everything that working on it needs, as it was when it was read. */
export interface Candidate {
  readonly post: PostRow;
  readonly account: Tables["accounts"];
  /** The ledger of its present run; nobody writes it but who has claimed the post. */
  readonly effects: readonly EffectRow[];
  /** True where nothing but text goes out. */
  readonly isLight: boolean;
}

/** The account `a` may get a post; parameter: the moment. */
export const FREE =
  "a.status IN ('connected', 'expiring') AND a.in_flight_post IS NULL AND a.next_allowed_at <= ?";

/** No other post of the account that is due comes before `p`; parameter: the moment. */
export const FIRST_OF_ACCOUNT = `NOT EXISTS (
  SELECT 1 FROM posts h INDEXED BY posts_claim
  WHERE h.account_id = p.account_id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL
    AND h.next_at <= ? AND (h.due_at, h.sort_key) < (p.due_at, p.sort_key))`;

/** Addresses of media stand in metadata under names that end so. */
const LIGHT = `p.media_url = '' AND (p.metadata IS NULL OR p.metadata NOT LIKE '%url":%')`;

const WAITING = `FROM posts INDEXED BY posts_next
  WHERE next_at > ? AND next_at <= ? AND next_at IS NOT NULL AND lease_worker IS NULL`;

/** The first that want attention, in order of that moment; most of them can be had. */
const FIRST_WAITING = `
  SELECT p.id AS id, ${LIGHT} AS is_light
  FROM (SELECT rowid AS place, next_at ${WAITING} ORDER BY next_at LIMIT ?) w
  CROSS JOIN posts p ON p.rowid = w.place CROSS JOIN accounts a ON a.id = p.account_id
  WHERE ${FREE} AND ${FIRST_OF_ACCOUNT} AND (? OR ${LIGHT})
  ORDER BY p.next_at, p.due_at, p.sort_key LIMIT ?`;

const COUNT_WAITING = `SELECT COUNT(*) AS n FROM (SELECT 1 ${WAITING} LIMIT ?)`;

/** The accounts with posts that wait. Walks from one to the next through the index, so that the work does not grow with their backlogs. */
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
const HEADS = `${BUSY})
  SELECT p.id AS id, ${LIGHT} AS is_light
  FROM busy CROSS JOIN accounts a ON a.id = busy.account_id
  CROSS JOIN posts p ON p.id = (
    SELECT h.id FROM posts h INDEXED BY posts_claim
    WHERE h.account_id = busy.account_id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL AND h.due_at <= ? AND h.next_at <= ?
    ORDER BY h.due_at, h.sort_key LIMIT 1)
  WHERE ${FREE} AND p.next_at > ? AND (? OR ${LIGHT})
  ORDER BY p.next_at, p.due_at, p.sort_key LIMIT ?`;

/** Posts looked at beyond those wanted, before it is cheaper to go from account to account. */
const LOOKED_AT_BESIDE = 50;

/** So few accounts are gone through at once. */
const FEW_ACCOUNTS = 50;

export interface DueHead {
  readonly id: string;
  readonly is_light: number;
}

export interface DueRange {
  /** Wants attention after this moment, up to that. */
  readonly after: number;
  readonly until: number;
  readonly limit: number;
  /** Leaves out posts that may bring media. */
  readonly isLightOnly: boolean;
}

/**
 * The first due post of each account that could get one at the end of the range, first due first. Looks at the first that are
 * due, which costs nothing for those that are not; where too many of these cannot be had (one account's backlog, say), it goes from
 * account to account.
 */
export function readDueHeads(raw: SqliteDatabase, range: DueRange): DueHead[] {
  const { after, until, limit } = range;
  const withMedia = range.isLightOnly ? 0 : 1;
  const lookedAt = limit + LOOKED_AT_BESIDE;
  const walk = (): DueHead[] =>
    raw.prepare(HEADS).all([until, until, until, after, withMedia, limit]) as DueHead[];
  const busy = raw.prepare(COUNT_BUSY).get([FEW_ACCOUNTS + 1]) as { n: number };
  if (busy.n <= FEW_ACCOUNTS) return walk();
  const heads = raw
    .prepare(FIRST_WAITING)
    .all([after, until, lookedAt, until, until, withMedia, limit]) as DueHead[];
  if (heads.length === limit) return heads;
  const { n } = raw.prepare(COUNT_WAITING).get([after, until, lookedAt]) as { n: number };
  return n < lookedAt ? heads : walk();
}

const POSTS_OF = `SELECT ${POST_COLUMNS.join(", ")} FROM posts WHERE id IN (SELECT value FROM json_each(?))`;
const ACCOUNTS_OF = "SELECT * FROM accounts WHERE id IN (SELECT value FROM json_each(?))";
const EFFECTS_OF = "SELECT * FROM effects WHERE post_id IN (SELECT value FROM json_each(?))";

/** Everything about these posts that working on them needs, in their order. */
export function readCandidates(raw: SqliteDatabase, heads: readonly DueHead[]): Candidate[] {
  if (heads.length === 0) return [];
  const ids = JSON.stringify(heads.map(({ id }) => id));
  const posts = new Map((raw.prepare(POSTS_OF).all([ids]) as PostRow[]).map((row) => [row.id, row]));
  const accountIds = JSON.stringify([...posts.values()].map((post) => post.account_id));
  const rows = raw.prepare(ACCOUNTS_OF).all([accountIds]) as Tables["accounts"][];
  const accounts = new Map(rows.map((row) => [row.id, row]));
  const effects = raw.prepare(EFFECTS_OF).all([ids]) as EffectRow[];
  const touched = new Set(effects.map((row) => row.post_id));
  return heads.flatMap(({ id, is_light }) => {
    const post = posts.get(id);
    const account = post && accounts.get(post.account_id);
    if (post === undefined || account === undefined) return [];
    const own = touched.has(id) ? effects.filter((row) => row.post_id === id && row.run === post.run) : [];
    return [{ post, account, effects: own, isLight: is_light === 1 }];
  });
}

/** When the first post after this moment wants attention; null when none waits. One before it may be held up by its channel. */
export function readNextAfter(raw: SqliteDatabase, moment: number): number | null {
  const row = raw.prepare(NEXT_AFTER).get([moment]) as { next: number | null };
  return row.next;
}

const NEXT_AFTER = `SELECT MIN(next_at) AS next FROM posts INDEXED BY posts_next
  WHERE next_at IS NOT NULL AND lease_worker IS NULL AND next_at > ?`;
