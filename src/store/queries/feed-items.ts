import type { Reader, Store, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import type { FeedItem, FeedShelf } from "../../ports/feed-shelf.ts";
import type { FileStore } from "../../ports/file-store.ts";

/** The built-in feed's entries in their table, their media in the file store under `feed/`. */
export function createFeedShelf(store: Store, files: FileStore): FeedShelf {
  return {
    get: (accountId, id) => findFeedItem(store, accountId, id),
    put: (item) => store.write((tx) => writeItem(tx, item)),
    change: (accountId, id, change) =>
      store.write(async (tx) => {
        const item = await findFeedItem(tx, accountId, id);
        if (item === null) return null;
        const changed = change(item);
        await writeItem(tx, changed);
        return changed;
      }),
    async remove(accountId, id) {
      const item = await findFeedItem(store, accountId, id);
      await store.write((tx) => deleteItem(tx, accountId, id));
      const media =
        item === null ? [] : [...item.media, ...(item.thumbnail === null ? [] : [item.thumbnail])];
      for (const { key } of media) await files.remove(key);
    },
    async keepMedia({ accountId, itemId, position }, { body, ...facts }) {
      const key = `feed/${accountId}/${itemId}/${position}`;
      const { sizeBytes, sha256 } = await files.write(key, body);
      return { ...facts, key, sizeBytes, sha256 };
    },
  };
}

async function writeItem(tx: Tx, item: FeedItem): Promise<void> {
  const row = {
    item: JSON.stringify(item),
    is_public: item.isPublic ? 1 : 0,
    published_at: item.publishedAt,
  };
  await queryOf(tx)
    .insertInto("feed_items")
    .values({ account_id: item.accountId, id: item.id, ...row })
    .onConflict((conflict) => conflict.columns(["account_id", "id"]).doUpdateSet(row))
    .execute();
}

async function deleteItem(tx: Tx, accountId: string, id: string): Promise<void> {
  await queryOf(tx)
    .deleteFrom("feed_items")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .execute();
}

export async function findFeedItem(reader: Reader, accountId: string, id: string): Promise<FeedItem | null> {
  const row = await queryOf(reader)
    .selectFrom("feed_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.item) as FeedItem);
}

/** Where a page of the feed ended: its last entry. */
export interface FeedPlace {
  readonly publishedAt: number;
  readonly id: string;
}

/** Public entries, newest first; `before` goes on where a page ended. */
export async function listFeedItems(
  reader: Reader,
  accountId: string,
  page: { limit: number; before: FeedPlace | null },
): Promise<FeedItem[]> {
  const { before } = page;
  let items = queryOf(reader)
    .selectFrom("feed_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("is_public", "=", 1);
  if (before !== null) {
    items = items.where((eb) =>
      eb.or([
        eb("published_at", "<", before.publishedAt),
        eb.and([eb("published_at", "=", before.publishedAt), eb("id", "<", before.id)]),
      ]),
    );
  }
  const rows = await items.orderBy("published_at", "desc").orderBy("id", "desc").limit(page.limit).execute();
  return rows.map((row) => JSON.parse(row.item) as FeedItem);
}

/**
 * The account whose feed it is, whoever owns it: a feed is public. Null where the account is none of the
 * feed's.
 */
export async function findFeedAccount(reader: Reader, id: string): Promise<{ name: string } | null> {
  const row = await queryOf(reader)
    .selectFrom("accounts")
    .select("name")
    .where("id", "=", id)
    .where("provider", "=", "feed")
    .executeTakeFirst();
  return row ?? null;
}
