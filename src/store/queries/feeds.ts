import type { Selectable } from "kysely";
import type { FeedItem, FeedStorage } from "../../ports/feed-storage.ts";
import type { FileStore } from "../../ports/file-store.ts";
import type { Tables } from "../schema/tables.ts";
import { deleteRows, findRow, insertNew, queryOf } from "../engine/statements.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";

/** The built-in feed's entries in their table, their media in the file store under `feed/`. */
export function createFeedStorage(store: Store, files: FileStore): FeedStorage {
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
      await store.write((tx) => deleteRows(tx, "feed_items", { account_id: accountId, id }));
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

export async function findFeedItem(reader: Reader, accountId: string, id: string): Promise<FeedItem | null> {
  const row = await findRow(reader, "feed_items", { account_id: accountId, id });
  return row === undefined ? null : (JSON.parse(row.item) as FeedItem);
}

/** Where a page of the feed ended: its last entry. */
interface FeedPlace {
  readonly publishedAt: number;
  readonly id: string;
}

/** Public entries, newest first, from after `before`. */
export async function listFeedItems(
  reader: Reader,
  accountId: string,
  page: { limit: number; before: FeedPlace | null },
): Promise<FeedItem[]> {
  const { before } = page;
  const end = before ?? { publishedAt: Number.MAX_SAFE_INTEGER, id: "" };
  const rows = await queryOf(reader)
    .selectFrom("feed_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("is_public", "=", 1)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple("published_at", "id"), "<", tuple(end.publishedAt, end.id)),
    )
    .orderBy("published_at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
  return rows.map((row) => JSON.parse(row.item) as FeedItem);
}

/** The account of a feed, of any owner: a feed is public. Null for an account of another platform. */
export async function findFeedAccount(reader: Reader, id: string): Promise<{ name: string } | null> {
  return (await findRow(reader, "accounts", { id, provider: "feed" })) ?? null;
}

/* The addresses of owners' calendars. */

export type CalendarLinkRow = Selectable<Tables["calendar_links"]>;

export function findCalendarLink(reader: Reader, ownerId: string): Promise<CalendarLinkRow | undefined> {
  return findRow(reader, "calendar_links", { owner_id: ownerId });
}

/** By the token in the address, which proves who asks. So the owner is not needed. */
export function findCalendarLinkByToken(
  reader: Reader,
  tokenHash: string,
): Promise<CalendarLinkRow | undefined> {
  return findRow(reader, "calendar_links", { token_hash: tokenHash });
}

/** False where there is one already. */
export function insertCalendarLink(tx: Tx, row: CalendarLinkRow): Promise<boolean> {
  return insertNew(tx, "calendar_links", row);
}

/** Replaces the owner's link, whose address ends. */
export async function putCalendarLink(tx: Tx, row: CalendarLinkRow): Promise<void> {
  await queryOf(tx)
    .insertInto("calendar_links")
    .values(row)
    .onConflict((conflict) => conflict.column("owner_id").doUpdateSet(row))
    .execute();
}

/** False where there was none. */
export async function deleteCalendarLink(tx: Tx, ownerId: string): Promise<boolean> {
  return (await deleteRows(tx, "calendar_links", { owner_id: ownerId })) > 0;
}
