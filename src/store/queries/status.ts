import type { Reader } from "../engine/store.ts";
import { anyOf, rowsOf } from "../engine/statements.ts";
import { sql, type RawBuilder } from "kysely";
import type { Tables } from "../engine/schema.ts";

/** Whose posts are counted; `accountIds` of a limited key, null: all of the owner's. */
export interface StatusScope {
  readonly ownerId: string;
  readonly accountIds: readonly string[] | null;
}

function ownAccounts({ ownerId, accountIds }: StatusScope): RawBuilder<unknown> {
  const reach = accountIds === null ? sql`TRUE` : sql`id IN ${anyOf(accountIds)}`;
  return sql`(SELECT id FROM accounts WHERE owner_id = ${ownerId} AND ${reach})`;
}

export interface PostCounts {
  readonly overdue: number;
  readonly publishing: number;
  readonly uploaded: number;
  readonly failed: number;
}

/**
 * Counts by ranges of the index over account, status and time: the work grows with what is counted, not with
 * the table.
 */
export async function countPosts(
  reader: Reader,
  scope: StatusScope,
  at: { readonly overdueBefore: number; readonly failedSince: number },
): Promise<PostCounts> {
  const count = (where: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`(SELECT count(*) FROM posts WHERE account_id IN ${ownAccounts(scope)} AND ${where})`;
  const late = sql`scheduled_at < ${at.overdueBefore}`;
  const rows = await rowsOf(
    reader,
    sql<PostCounts>`SELECT
    ${count(sql`status IN ('scheduled', 'publishing', 'uploaded') AND ${late}`)} AS overdue,
    ${count(sql`status = 'publishing'`)} AS publishing,
    ${count(sql`status = 'uploaded'`)} AS uploaded,
    ${count(sql`status = 'failed' AND scheduled_at >= ${at.failedSince}`)} AS failed`,
  );
  return rows[0] ?? { overdue: 0, publishing: 0, uploaded: 0, failed: 0 };
}

export type FailureRow = Pick<Tables["posts"], "id" | "account_id" | "provider" | "scheduled_at" | "error">;

/** The failed posts with the latest time, newest first; like their count they are found in the index. */
export async function readFailures(
  reader: Reader,
  scope: StatusScope,
  range: { since: number; limit: number },
): Promise<FailureRow[]> {
  const rows = await rowsOf(
    reader,
    sql<FailureRow>`
    SELECT id, account_id, provider, scheduled_at, error FROM posts
    WHERE account_id IN ${ownAccounts(scope)} AND status = 'failed' AND scheduled_at >= ${range.since}
    ORDER BY scheduled_at DESC, id DESC LIMIT ${range.limit}`,
  );
  return rows;
}

/** Failed posts of which nobody knows whether they went out. */
export async function countInDoubt(reader: Reader, scope: StatusScope): Promise<number> {
  const rows = await rowsOf(
    reader,
    sql<{ count: number }>`
    SELECT count(*) AS count FROM posts
    WHERE in_doubt = 1 AND owner_id = ${scope.ownerId} AND status = 'failed' AND account_id IN ${ownAccounts(scope)}`,
  );
  return rows[0]?.count ?? 0;
}

/** The first waiting post's time from `now` on, in milliseconds; null where none waits. */
export async function readNextScheduled(
  reader: Reader,
  scope: StatusScope,
  now: number,
): Promise<number | null> {
  const rows = await rowsOf(
    reader,
    sql<{ next: number | null }>`
    SELECT min((SELECT scheduled_at FROM posts
      WHERE account_id = own.id AND status = 'scheduled' AND scheduled_at >= ${now} ORDER BY scheduled_at LIMIT 1)) AS next
    FROM ${ownAccounts(scope)} AS own`,
  );
  return rows[0]?.next ?? null;
}

/** How late the newest published posts went live, in milliseconds, shortest first. */
export async function readLateness(
  reader: Reader,
  scope: StatusScope,
  range: { since: number; limit: number },
): Promise<number[]> {
  const rows = await rowsOf(
    reader,
    sql<{ late: number }>`
    SELECT CASE WHEN a.finished_at < p.scheduled_at THEN 0 ELSE a.finished_at - p.scheduled_at END AS late
    FROM (SELECT post_id, finished_at, outcome FROM attempts
          WHERE owner_id = ${scope.ownerId} AND started_at >= ${range.since} ORDER BY started_at DESC LIMIT ${range.limit}) AS a
    JOIN posts AS p ON p.id = a.post_id
    WHERE a.outcome = 'published' AND a.finished_at IS NOT NULL AND p.account_id IN ${ownAccounts(scope)}
    ORDER BY late`,
  );
  return rows.map((row) => row.late);
}
