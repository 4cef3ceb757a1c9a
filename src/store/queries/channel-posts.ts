import { sql, type RawBuilder } from "kysely";
import type { PostRow } from "../schema/tables.ts";
import { queryOf, rowOf, rowsOf } from "../engine/statements.ts";
import type { Reader } from "../engine/store.ts";

/* What the posts of a channel tell: doubles, quotas, figures. */

/** The id of another waiting post with the same content on the same channel. */
export async function findWaitingTwin(
  reader: Reader,
  post: Pick<PostRow, "id" | "account_id" | "owner_id" | "content_hash">,
): Promise<string | null> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select("id")
    .where("account_id", "=", post.account_id)
    .where("owner_id", "=", post.owner_id)
    .where("content_hash", "=", post.content_hash)
    .where("id", "<>", post.id)
    // A literal: with a parameter SQLite would plan again for each value whether the partial index fits.
    .where("status", "=", sql.lit("scheduled"))
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The first other post that waits on the same channel for a time within these (milliseconds, both included). */
export async function findWaitingNear(
  reader: Reader,
  post: Pick<PostRow, "id" | "account_id" | "owner_id">,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Pick<PostRow, "id" | "caption" | "media_url"> | undefined> {
  return queryOf(reader)
    .selectFrom("posts")
    .select(["id", "caption", "media_url"])
    .where("account_id", "=", post.account_id)
    .where("owner_id", "=", post.owner_id)
    .where("scheduled_at", ">=", from)
    .where("scheduled_at", "<=", to)
    .where("id", "<>", post.id)
    .where("status", "=", sql.lit("scheduled"))
    .orderBy("scheduled_at")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/**
 * The newest other post of the channel with the same text that is live since then, in any Unicode form. What a series
 * said before is no repetition: it was meant.
 */
export async function findLiveText(
  reader: Reader,
  post: Pick<PostRow, "id" | "account_id" | "owner_id" | "caption">,
  since: number,
): Promise<{ readonly id: string; readonly publishedAt: number } | null> {
  const { id, account_id: accountId, owner_id: ownerId, caption } = post;
  if (caption === null || caption.trim() === "") return null;
  const spellings = [...new Set([caption, caption.normalize("NFC"), caption.normalize("NFD")])];
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select(["id", "published_at"])
    .where("account_id", "=", accountId)
    .where("published_at", ">=", since)
    .where("owner_id", "=", ownerId)
    .where("status", "=", "published")
    .where("caption", "in", spellings)
    .where("id", "<>", id)
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT 1 FROM post_plans AS own JOIN post_plans AS other ON other.draft_id = own.draft_id
        WHERE own.post_id = ${id} AND other.post_id = posts.id)`,
    )
    .orderBy("published_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { id: row.id, publishedAt: row.published_at ?? 0 };
}

/** The posts that count for a quota. */
export interface QuotaWindow {
  /** Of one account, or of all accounts of a platform. */
  readonly of: { readonly accountId: string } | { readonly provider: string };
  /** Milliseconds since 1970: later than `after`, up to and including `until`. */
  readonly after: number;
  readonly until: number;
  /** Set for the plan of a post: other posts that are due in that time count too. */
  readonly planning: { readonly postId: string | null } | null;
}

export async function countInWindow(reader: Reader, window: QuotaWindow): Promise<number> {
  const count = sql<{ count: number }>`SELECT count(*) AS count FROM (${momentsOf(window)}) AS moments`;
  return (await rowOf(reader, count))?.count ?? 0;
}

/** The moment of the `nth` newest of them, from 1 on. Null where there are fewer. */
export async function nthNewest(reader: Reader, window: QuotaWindow, nth: number): Promise<number | null> {
  const moment = sql<{ at: number }>`
    SELECT at FROM (${momentsOf(window)}) AS moments ORDER BY at DESC LIMIT 1 OFFSET ${nth - 1}`;
  return (await rowOf(reader, moment))?.at ?? null;
}

function momentsOf({ of, after, until, planning }: QuotaWindow): RawBuilder<unknown> {
  const whose = "accountId" in of ? sql`a.id = ${of.accountId}` : sql`a.provider = ${of.provider}`;
  const published = sql`
    SELECT p.published_at AS at FROM accounts a JOIN posts p ON p.account_id = a.id
    WHERE ${whose} AND p.published_at > ${after} AND p.published_at <= ${until}`;
  if (planning === null) return published;
  return sql`${published} UNION ALL
    SELECT p.scheduled_at AS at FROM accounts a JOIN posts p ON p.account_id = a.id
    WHERE ${whose} AND p.status IN ('scheduled', 'publishing', 'uploaded')
      AND p.scheduled_at > ${after} AND p.scheduled_at <= ${until} AND p.id <> ${planning.postId ?? ""}`;
}

export interface EndedPost {
  readonly status: "published" | "failed";
  readonly scheduled_at: number;
  readonly published_at: number | null;
}

/** An account's posts that went live or failed, scheduled in this range (milliseconds, both included). */
export async function readEnded(
  reader: Reader,
  account: { readonly ownerId: string; readonly id: string },
  range: { readonly from: number; readonly to: number },
): Promise<EndedPost[]> {
  return rowsOf(
    reader,
    sql<EndedPost>`
      SELECT status, scheduled_at, published_at FROM posts
      WHERE account_id = ${account.id} AND owner_id = ${account.ownerId} AND status IN ('published', 'failed')
        AND scheduled_at >= ${range.from} AND scheduled_at <= ${range.to}`,
  );
}
