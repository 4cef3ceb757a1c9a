import type { Reader } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import { rowsOf } from "../engine/statements.ts";
import { sql, type Selectable } from "kysely";
import { POST_STATUSES, type PostStatus } from "../../domain/posts/post-states.ts";
import type { Tables } from "../engine/schema.ts";

/* Numbers over all owners, for whoever runs the instance. Nothing of an owner's shows in them. */

/** By ranges of an index, one an account and status: a million posts take a few hundredths of a second. */
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
  const counts = new Map(rows.map((row) => [row.status, row.posts]));
  const of = (status: PostStatus): number => counts.get(status) ?? 0;
  return {
    scheduled: of("scheduled"),
    publishing: of("publishing"),
    uploaded: of("uploaded"),
    published: of("published"),
    failed: of("failed"),
    cancelled: of("cancelled"),
  };
}

/** Posts that should have been taken up before that moment. */
export async function countOverdue(reader: Reader, before: number): Promise<number> {
  const rows = await rowsOf(
    reader,
    sql<{ posts: number }>`
    SELECT count(*) AS posts FROM posts
    WHERE next_at IS NOT NULL AND lease_worker IS NULL AND next_at < ${before}`,
  );
  return rows[0]?.posts ?? 0;
}

export type AttemptTotal = Selectable<Tables["attempt_totals"]>;

/** PostgreSQL keeps each in parts, and its sums have no type that is a number. */
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
