import type { FeedItem, FeedShelf } from "../ports/feed-shelf.ts";
import type { FileStore } from "../ports/file-store.ts";
import type { Query } from "./db.ts";

/** The built-in feed's entries in their table, their media in the file store under `feed/`. */
export function createFeedShelf(query: Query, files: FileStore): FeedShelf {
  return {
    get: (accountId, id) => findFeedItem(query, accountId, id),
    async put(item) {
      const row = { item: JSON.stringify(item), is_public: item.isPublic ? 1 : 0, published_at: item.publishedAt };
      await query
        .insertInto("feed_items")
        .values({ account_id: item.accountId, id: item.id, ...row })
        .onConflict((conflict) => conflict.columns(["account_id", "id"]).doUpdateSet(row))
        .execute();
    },
    async remove(accountId, id) {
      const item = await findFeedItem(query, accountId, id);
      await query.deleteFrom("feed_items").where("account_id", "=", accountId).where("id", "=", id).execute();
      const media = item === null ? [] : [...item.media, ...(item.thumbnail === null ? [] : [item.thumbnail])];
      for (const { key } of media) await files.remove(key);
    },
    async keepMedia(accountId, itemId, position, item) {
      const { facts } = item;
      const key = `feed/${accountId}/${itemId}/${position}`;
      await files.write(key, item.open());
      return {
        key,
        mimeType: facts.mimeType,
        sizeBytes: facts.sizeBytes,
        altText: item.altText,
        width: facts.width,
        height: facts.height,
        durationSeconds: facts.durationSeconds,
      };
    },
  };
}

export async function findFeedItem(query: Query, accountId: string, id: string): Promise<FeedItem | null> {
  const row = await query
    .selectFrom("feed_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.item) as FeedItem);
}

/** Public entries, newest first; `before` in milliseconds goes on where a page ended. */
export async function listFeedItems(query: Query, accountId: string, page: { limit: number; before: number | null }): Promise<FeedItem[]> {
  const rows = await query
    .selectFrom("feed_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("is_public", "=", 1)
    .$if(page.before !== null, (some) => some.where("published_at", "<", page.before ?? 0))
    .orderBy("published_at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
  return rows.map((row) => JSON.parse(row.item) as FeedItem);
}
