import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { FileType } from "../../domain/files/file.ts";
import type { Tables } from "../engine/schema.ts";

export type FileRow = Selectable<Tables["files"]>;

export async function findFileRow(reader: Reader, ownerId: string, id: string): Promise<FileRow | null> {
  const row = await queryOf(reader)
    .selectFrom("files")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

export async function findFileByKey(
  reader: Reader,
  ownerId: string,
  storageKey: string,
): Promise<FileRow | null> {
  const row = await queryOf(reader)
    .selectFrom("files")
    .selectAll()
    .where("storage_key", "=", storageKey)
    .where("owner_id", "=", ownerId)
    .executeTakeFirst();
  return row ?? null;
}

/** By an address that we signed, which is the proof of who may ask: no owner is at hand. */
export async function findSignedFile(reader: Reader, id: string): Promise<FileRow | null> {
  return (
    (await queryOf(reader).selectFrom("files").selectAll().where("id", "=", id).executeTakeFirst()) ?? null
  );
}

/** Newest first, those before `before`. */
export function listFileRows(
  reader: Reader,
  filter: { ownerId: string; type: FileType | null },
  page: { before: string | null; limit: number },
): Promise<FileRow[]> {
  let select = queryOf(reader).selectFrom("files").selectAll().where("owner_id", "=", filter.ownerId);
  if (filter.type !== null) select = select.where("type", "=", filter.type).where("status", "=", "ready");
  if (page.before !== null) select = select.where("id", "<", page.before);
  return select.orderBy("id", "desc").limit(page.limit).execute();
}

export async function insertFileRow(tx: Tx, row: Insertable<Tables["files"]>): Promise<void> {
  await queryOf(tx).insertInto("files").values(row).execute();
}

/** Notes where the bytes of an upload go, so that they can be found should it be abandoned. */
export async function noteStorageKey(
  tx: Tx,
  file: { ownerId: string; id: string },
  storageKey: string,
): Promise<void> {
  await queryOf(tx)
    .updateTable("files")
    .set({ storage_key: storageKey })
    .where("id", "=", file.id)
    .where("owner_id", "=", file.ownerId)
    .where("status", "=", "uploading")
    .execute();
}

/**
 * Writes what an upload brought; null where it is not awaited any more (removed, or another upload was
 * first).
 */
export async function completeFileRow(
  tx: Tx,
  file: { ownerId: string; id: string },
  set: Updateable<Tables["files"]>,
): Promise<FileRow | null> {
  const row = await queryOf(tx)
    .updateTable("files")
    .set({ ...set, status: "ready" })
    .where("id", "=", file.id)
    .where("owner_id", "=", file.ownerId)
    .where("status", "=", "uploading")
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

export async function deleteFileRow(tx: Tx, ownerId: string, id: string): Promise<void> {
  await queryOf(tx).deleteFrom("files").where("owner_id", "=", ownerId).where("id", "=", id).execute();
}

/** Rows whose upload was begun before `before` and never came to an end, taken off the table. */
export function takeAbandonedUploads(tx: Tx, ownerId: string, before: number): Promise<FileRow[]> {
  return queryOf(tx)
    .deleteFrom("files")
    .where("owner_id", "=", ownerId)
    .where("status", "=", "uploading")
    .where("created_at", "<", before)
    .returningAll()
    .execute();
}

/** A record whose upload did not come to an end, taken off the table; null where there is none. */
export async function takeUnfinishedUpload(
  tx: Tx,
  file: Pick<FileRow, "owner_id" | "id">,
): Promise<FileRow | null> {
  const row = await queryOf(tx)
    .deleteFrom("files")
    .where("owner_id", "=", file.owner_id)
    .where("id", "=", file.id)
    .where("status", "=", "uploading")
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** An address as a whole JSON text: a caption that only mentions one does not count. */
const QUOTED_ADDRESS = /"r2:\/\/([a-z0-9/_.-]+)"/g;

/**
 * How many posts that still wait for something name each key, in `media_url` or anywhere in `metadata`;
 * without any: absent.
 */
export async function countUses(
  reader: Reader,
  ownerId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>();
  if (keys.length === 0) return uses;
  const add = (key: string, count: number): unknown => uses.set(key, (uses.get(key) ?? 0) + count);
  const urls = keys.map((key) => `r2://${key}`);
  for (const row of await countByMediaUrl(reader, ownerId, urls))
    add(row.media_url.slice("r2://".length), row.posts);
  const wanted = new Set(keys);
  for (const row of await namedInMetadata(reader, ownerId)) {
    const named = new Set([...(row.metadata ?? "").matchAll(QUOTED_ADDRESS)].map((match) => match[1] ?? ""));
    for (const key of named) if (wanted.has(key) && row.media_url !== `r2://${key}`) add(key, 1);
  }
  return uses;
}

function countByMediaUrl(
  reader: Reader,
  ownerId: string,
  urls: readonly string[],
): Promise<{ media_url: string; posts: number }[]> {
  return (
    queryOf(reader)
      .selectFrom("posts")
      .select(["media_url", sql<number>`count(*)`.as("posts")])
      .where("media_url", "in", urls)
      // As in the partial index posts_waiting_media, which it is answered from.
      .where(sql<boolean>`next_at IS NOT NULL AND media_url <> ''`)
      .where("owner_id", "=", ownerId)
      .groupBy("media_url")
      .execute()
  );
}

function namedInMetadata(
  reader: Reader,
  ownerId: string,
): Promise<{ media_url: string; metadata: string | null }[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .select(["media_url", "metadata"])
    .where("owner_id", "=", ownerId)
    .where("status", "in", ["scheduled", "publishing", "uploaded"])
    .where("next_at", "is not", null)
    .where(sql<boolean>`instr(metadata, '"r2://') > 0`)
    .execute();
}
