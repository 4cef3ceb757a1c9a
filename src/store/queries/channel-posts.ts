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

/** A post that says the same as another one. */
export type SamePost = Pick<PostRow, "id" | "status" | "in_doubt" | "published_at" | "scheduled_at">;

/**
 * The other posts of the channel with the same text, in any Unicode form, or without one the same media: those that are
 * or may be out since so long before now, and those that wait so near to it. What matters most comes first. What a
 * series said before is no repetition: it was meant.
 */
export async function listSameText(
  reader: Reader,
  post: Pick<
    PostRow,
    "id" | "account_id" | "owner_id" | "caption" | "media_url" | "scheduled_at" | "content_hash"
  >,
  { now, ms }: { readonly now: number; readonly ms: number },
): Promise<readonly SamePost[]> {
  const { id, account_id: accountId, owner_id: ownerId, scheduled_at: at } = post;
  const caption = post.caption ?? "";
  const isWordless = caption.trim() === "";
  if (isWordless && post.media_url === "") return [];
  const spellings = [...new Set([caption, caption.normalize("NFC"), caption.normalize("NFD")])];
  const same = queryOf(reader)
    .selectFrom("posts")
    .select(["id", "status", "in_doubt", "published_at", "scheduled_at"])
    .where("account_id", "=", accountId)
    .where("owner_id", "=", ownerId)
    .where("id", "<>", id)
    .$if(!isWordless, (query) => query.where("caption", "in", spellings))
    .$if(isWordless, (query) =>
      query.where("media_url", "=", post.media_url).where(sql<boolean>`TRIM(COALESCE(caption, '')) = ''`),
    )
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT 1 FROM post_plans AS own JOIN post_plans AS other ON other.draft_id = own.draft_id
        WHERE own.post_id = ${id} AND other.post_id = posts.id)`,
    );
  const live = await same
    .where("published_at", ">=", now - ms)
    .where("status", "=", "published")
    .orderBy("published_at", "desc")
    .limit(1)
    .execute();
  const others = await same
    .where("scheduled_at", ">=", Math.min(now, at) - ms)
    .where("scheduled_at", "<=", Math.max(now, at) + ms)
    // What is the same in all is told of by itself.
    .where(
      sql<boolean>`(status IN ('publishing', 'uploaded', 'failed') OR (status = 'cancelled' AND in_doubt = 1)
      OR (status = 'scheduled' AND scheduled_at >= ${at - ms} AND content_hash <> ${post.content_hash}))`,
    )
    .orderBy(
      sql`CASE WHEN in_doubt = 1 THEN 0 WHEN status = 'failed' THEN 2 WHEN status = 'scheduled' THEN 1 ELSE 0 END`,
    )
    .orderBy(sql`ABS(scheduled_at - ${at})`)
    .orderBy("id")
    .limit(MAX_SAME)
    .execute();
  return [...live, ...others];
}

const MAX_SAME = 20;

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
