import { sql, type RawBuilder, type Selectable } from "kysely";
import { POST_STATUSES, type PostStatus } from "../../domain/posts/post-states.ts";
import type { Tables } from "../schema/tables.ts";
import { anyOf, queryOf, rowOf, rowsOf } from "../engine/statements.ts";
import type { Reader } from "../engine/store.ts";

/** Whose posts are counted. `accountIds`: those of a limited key. Null: all of the owner's. */
export interface StatusScope {
  readonly ownerId: string;
  readonly accountIds: readonly string[] | null;
}

/** Their ids, for a template. `that`: what else is true of them. */
export function ownAccounts(
  { ownerId, accountIds }: StatusScope,
  that: RawBuilder<unknown> = sql`TRUE`,
): RawBuilder<unknown> {
  const reach = accountIds === null ? sql`TRUE` : sql`id IN ${anyOf(accountIds)}`;
  return sql`(SELECT id FROM accounts WHERE owner_id = ${ownerId} AND ${reach} AND ${that})`;
}

/** Nothing of other accounts goes out before a person resumes or reconnects them. */
const CAN_SEND = sql`paused = 0 AND status IN ('connected', 'expiring')`;

/** What waits for the end of a pause is not late: a person wanted it so. */
const NOT_PAUSED = sql`paused = 0`;

interface PostCounts {
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
  const count = (where: RawBuilder<unknown>, of = ownAccounts(scope)): RawBuilder<unknown> =>
    sql`(SELECT count(*) FROM posts WHERE account_id IN ${of} AND ${where})`;
  const late = sql`scheduled_at < ${at.overdueBefore}`;
  const rows = await rowsOf(
    reader,
    sql<PostCounts>`SELECT
    ${count(sql`status IN ('scheduled', 'publishing', 'uploaded') AND ${late}`, ownAccounts(scope, NOT_PAUSED))} AS overdue,
    ${count(sql`status = 'publishing'`)} AS publishing,
    ${count(sql`status = 'uploaded'`)} AS uploaded,
    ${count(sql`status = 'failed' AND scheduled_at >= ${at.failedSince}`)} AS failed`,
  );
  return rows[0] ?? { overdue: 0, publishing: 0, uploaded: 0, failed: 0 };
}

type ToldRow = Pick<Tables["posts"], "id" | "caption" | "media_url" | "scheduled_at">;

/** What `countPosts` counts as overdue, earliest first. */
export function listOverdue(
  reader: Reader,
  scope: StatusScope,
  at: { readonly overdueBefore: number; readonly limit: number },
): Promise<ToldRow[]> {
  return rowsOf(
    reader,
    sql<ToldRow>`
    SELECT id, caption, media_url, scheduled_at FROM posts
    WHERE account_id IN ${ownAccounts(scope, NOT_PAUSED)} AND status IN ('scheduled', 'publishing', 'uploaded')
      AND scheduled_at < ${at.overdueBefore}
    ORDER BY scheduled_at, id LIMIT ${at.limit}`,
  );
}

/** Posts under way that were sent and may or may not be out, earliest first. */
export function listUnsettled(reader: Reader, scope: StatusScope): Promise<ToldRow[]> {
  return rowsOf(
    reader,
    sql<ToldRow>`
    SELECT id, caption, media_url, scheduled_at FROM posts
    WHERE account_id IN ${ownAccounts(scope)} AND status = 'publishing' AND in_doubt = 1
    ORDER BY scheduled_at, id`,
  );
}

/** So many of the newest live posts are looked at for what was noted on them: no index has the few. */
const MAX_LOOKED_AT = 10_000;

type NotedRow = Pick<Tables["posts"], "id" | "caption" | "media_url" | "status" | "error">;

/** Posts that are on their platforms with something noted, and on which no call works, newest first. */
export async function listNoted(reader: Reader, scope: StatusScope): Promise<NotedRow[]> {
  const noted = (status: PostStatus): Promise<NotedRow[]> =>
    rowsOf(
      reader,
      sql<NotedRow>`
      SELECT id, caption, media_url, status, error
      FROM (SELECT * FROM posts WHERE owner_id = ${scope.ownerId} AND status = ${sql.lit(status)}
        ORDER BY scheduled_at DESC, id DESC LIMIT ${MAX_LOOKED_AT}) AS newest
      WHERE error IS NOT NULL AND lease_worker IS NULL AND account_id IN ${ownAccounts(scope)}
      ORDER BY scheduled_at DESC, id DESC`,
    );
  return [...(await noted("uploaded")), ...(await noted("published"))];
}

type FailureRow = Pick<Tables["posts"], "id" | "account_id" | "provider" | "scheduled_at" | "error">;

/** The failed posts with the latest time, newest first. */
export function readFailures(
  reader: Reader,
  scope: StatusScope,
  range: { since: number; limit: number },
): Promise<FailureRow[]> {
  return rowsOf(
    reader,
    sql<FailureRow>`
    SELECT id, account_id, provider, scheduled_at, error FROM posts
    WHERE account_id IN ${ownAccounts(scope)} AND status = 'failed' AND scheduled_at >= ${range.since}
    ORDER BY scheduled_at DESC, id DESC LIMIT ${range.limit}`,
  );
}

/** Failed posts that may have been published. */
export async function countInDoubt(reader: Reader, scope: StatusScope): Promise<number> {
  const count = sql<{ count: number }>`
    SELECT count(*) AS count FROM posts
    WHERE in_doubt = 1 AND owner_id = ${scope.ownerId} AND status = 'failed' AND account_id IN ${ownAccounts(scope)}`;
  return (await rowOf(reader, count))?.count ?? 0;
}

/** The time of the first waiting post from `now` on whose channel can send it, in milliseconds. Null: there is none. */
export async function readNextScheduled(
  reader: Reader,
  scope: StatusScope,
  now: number,
): Promise<number | null> {
  const rows = await rowsOf(
    reader,
    sql<{ next: number | null }>`
    SELECT min(CASE WHEN first.at < a.next_allowed_at THEN a.next_allowed_at ELSE first.at END) AS next
    FROM (SELECT own.id AS id, (SELECT scheduled_at FROM posts
      WHERE account_id = own.id AND status = 'scheduled' AND scheduled_at >= ${now} ORDER BY scheduled_at LIMIT 1) AS at
      FROM ${ownAccounts(scope, CAN_SEND)} AS own) AS first
    JOIN accounts a ON a.id = first.id`,
  );
  return rows[0]?.next ?? null;
}

/**
 * How late the newest published posts went live, in milliseconds, shortest first; without those that waited until a
 * person resumed or reconnected their channel.
 */
export async function readLateness(
  reader: Reader,
  scope: StatusScope,
  range: { since: number; limit: number },
): Promise<number[]> {
  const rows = await rowsOf(
    reader,
    sql<{ late: number }>`
    SELECT CASE WHEN a.finished_at < p.scheduled_at THEN 0 ELSE a.finished_at - p.scheduled_at END AS late
    FROM (SELECT post_id, finished_at, outcome, late_cause FROM attempts
          WHERE owner_id = ${scope.ownerId} AND started_at >= ${range.since} ORDER BY started_at DESC LIMIT ${range.limit}) AS a
    JOIN posts AS p ON p.id = a.post_id
    WHERE a.outcome = 'published' AND a.finished_at IS NOT NULL AND (a.late_cause IS NULL OR a.late_cause <> 'channel')
      AND p.account_id IN ${ownAccounts(scope)}
    ORDER BY late`,
  );
  return rows.map((row) => row.late);
}

/* Numbers over all owners, for the operator. They show nothing of a single owner. */

/** Counts ranges of an index, one an account and status. A million posts take a few hundredths of a second. */
export async function countByStatus(reader: Reader): Promise<Record<PostStatus, number>> {
  const rows = await rowsOf(
    reader,
    sql<{ status: PostStatus; posts: number }>`
    WITH s (status) AS (VALUES ${sql.join(POST_STATUSES.map((status) => sql`(${sql.lit(status)})`))})
    SELECT s.status AS status, (
      SELECT CAST(coalesce(sum((
        SELECT count(*) FROM posts WHERE account_id = a.id AND status = s.status)), 0) AS BIGINT)
      FROM accounts a) AS posts
    FROM s`,
  );
  const none = { scheduled: 0, publishing: 0, uploaded: 0, published: 0, failed: 0, cancelled: 0 };
  return { ...none, ...Object.fromEntries(rows.map((row) => [row.status, row.posts])) };
}

/** Posts that should have been taken up before that moment. */
export async function countOverdue(reader: Reader, before: number): Promise<number> {
  const overdue = sql<{ posts: number }>`
    SELECT count(*) AS posts FROM posts
    WHERE next_at IS NOT NULL AND lease_worker IS NULL AND next_at < ${before}`;
  return (await rowOf(reader, overdue))?.posts ?? 0;
}

export type AttemptTotal = Omit<Selectable<Tables["attempt_totals"]>, "part">;

/** Each is kept in parts. Cast, because PostgreSQL's sum has a type that is no number in JavaScript. */
export function readAttemptTotals(reader: Reader): Promise<AttemptTotal[]> {
  return queryOf(reader)
    .selectFrom("attempt_totals")
    .select([
      "provider",
      "outcome",
      "bucket_ms",
      sql<number>`CAST(sum(attempts) AS BIGINT)`.as("attempts"),
      sql<number>`CAST(sum(lateness_ms) AS BIGINT)`.as("lateness_ms"),
    ])
    .groupBy(["provider", "outcome", "bucket_ms"])
    .orderBy("provider")
    .orderBy("outcome")
    .orderBy("bucket_ms")
    .execute();
}

/** Events that wait, and when the first of them is or was due. */
export async function readOutbox(reader: Reader): Promise<{ pending: number; firstDueAt: number | null }> {
  const row = await queryOf(reader)
    .selectFrom("webhook_deliveries")
    .select([sql<number>`count(*)`.as("pending"), sql<number | null>`min(next_at)`.as("firstDueAt")])
    .where("next_at", "is not", null)
    .executeTakeFirst();
  return row ?? { pending: 0, firstDueAt: null };
}

export async function countWebhooks(
  reader: Reader,
): Promise<ReadonlyMap<Tables["webhooks"]["status"], number>> {
  const rows = await queryOf(reader)
    .selectFrom("webhooks")
    .select(["status", sql<number>`count(*)`.as("webhooks")])
    .groupBy("status")
    .execute();
  return new Map(rows.map((row) => [row.status, row.webhooks]));
}
