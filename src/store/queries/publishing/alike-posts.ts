import { sql } from "kysely";
import { queryOf } from "../../engine/handle.ts";
import type { PostRow } from "../../engine/schema.ts";
import type { Reader } from "../../engine/store.ts";

/** The id of a waiting post with the same content on the same channel. */
export async function findWaitingTwin(
  reader: Reader,
  post: Pick<PostRow, "account_id" | "owner_id" | "content_hash">,
): Promise<string | null> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select("id")
    .where("account_id", "=", post.account_id)
    .where("owner_id", "=", post.owner_id)
    .where("content_hash", "=", post.content_hash)
    // In the text: told with each call, SQLite would plan anew each time whether the index of waiting posts
    // will do.
    .where("status", "=", sql.lit("scheduled"))
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/**
 * The newest live post of the channel with the same text, in whichever spelling of Unicode; null: none since then,
 * or there is no text.
 */
export async function findLiveText(
  reader: Reader,
  { account_id: accountId, owner_id: ownerId, caption }: Pick<PostRow, "account_id" | "owner_id" | "caption">,
  since: number,
): Promise<{ readonly id: string; readonly publishedAt: number } | null> {
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
    .orderBy("published_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { id: row.id, publishedAt: row.published_at ?? 0 };
}
