import type { Reader, Tx } from "../../engine/store.ts";
import { queryOf } from "../../engine/handle.ts";
import {
  sql,
  type DeleteQueryBuilder,
  type DeleteResult,
  type Insertable,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type Updateable,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { FileType } from "../../../domain/files/file.ts";
import type { Tables } from "../../engine/schema.ts";

export type FileRow = Selectable<Tables["files"]>;

/** Whose files are meant, and which of them: a key that is limited to accounts does not reach them all. */
export interface FileReach {
  readonly ownerId: string;
  /** Null: all of the owner's files. */
  readonly accountIds: readonly string[] | null;
  /** What it brought itself a limited key reaches, whatever uses it. */
  readonly keyId: string;
}

/** For what is not done on behalf of a key: the owner's files, all of them. */
export function allFilesOf(ownerId: string): FileReach {
  return { ownerId, accountIds: null, keyId: "" };
}

export async function findFileRow(reader: Reader, reach: FileReach, id: string): Promise<FileRow | null> {
  return (await withinReach(reader, reach).where("files.id", "=", id).executeTakeFirst()) ?? null;
}

export async function findFileByKey(
  reader: Reader,
  reach: FileReach,
  storageKey: string,
): Promise<FileRow | null> {
  const found = withinReach(reader, reach).where("files.storage_key", "=", storageKey);
  return (await found.executeTakeFirst()) ?? null;
}

/** What the key brought itself, and what posts of its accounts use and those of no other account. */
function withinReach(
  reader: Reader,
  { ownerId, accountIds, keyId }: FileReach,
): SelectQueryBuilder<Tables, "files", FileRow> {
  const select = queryOf(reader).selectFrom("files").selectAll("files").where("files.owner_id", "=", ownerId);
  if (accountIds === null) return select;
  return select.where((eb) =>
    eb.or([
      eb("files.key_id", "=", keyId),
      eb.and([
        sql<boolean>`EXISTS (${usesOf(sql`files.id`, accountIds, "IN")})`,
        sql<boolean>`NOT EXISTS (${usesOf(sql`files.id`, accountIds, "NOT IN")})`,
      ]),
    ]),
  );
}

function usesOf(
  fileId: RawBuilder<unknown>,
  accountIds: readonly string[],
  which: "IN" | "NOT IN",
): RawBuilder<unknown> {
  return sql`SELECT 1 FROM file_uses AS uses
    WHERE uses.file_id = ${fileId} AND uses.account_id ${sql.raw(which)} (${sql.join(accountIds)})`;
}

/**
 * Keeps the files as they are until the transaction ends: whoever deletes one and whoever makes a post use it
 * do so one after the other, and see what the other did. In the order of the ids, so that nobody waits in a
 * circle.
 */
export async function lockFiles(tx: Tx, ownerId: string, ids: readonly string[]): Promise<void> {
  for (const id of [...new Set(ids)].sort()) {
    await queryOf(tx)
      .updateTable("files")
      .where("id", "=", id)
      .where("owner_id", "=", ownerId)
      .set((eb) => ({ status: eb.ref("status") }))
      .execute();
  }
}

/** Whether posts of accounts beyond the reach use the file. */
export async function isUsedBeyond(reader: Reader, reach: FileReach, id: string): Promise<boolean> {
  if (reach.accountIds === null) return false;
  const { rows } = await usesOf(sql`${id}`, reach.accountIds, "NOT IN").execute(queryOf(reader));
  return rows.length > 0;
}

/** By an address that we signed, which is the proof of who may ask: no owner is at hand. */
export async function findSignedFile(reader: Reader, id: string): Promise<FileRow | null> {
  return (
    (await queryOf(reader).selectFrom("files").selectAll().where("id", "=", id).executeTakeFirst()) ?? null
  );
}

/** Newest first, those before `before`. */
export async function listFileRows(reader: Reader, filter: FileFilter, page: FilePage): Promise<FileRow[]> {
  const { ownerId, accountIds } = filter.reach;
  let select = queryOf(reader).selectFrom("files").selectAll("files").where("owner_id", "=", ownerId);
  if (filter.type !== null) select = select.where("type", "=", filter.type).where("status", "=", "ready");
  if (page.before !== null) select = select.where("id", "<", page.before);
  const newest = select.orderBy("id", "desc").limit(page.limit);
  if (accountIds === null) return newest.execute();
  const rows = await newest.where("key_id", "=", filter.reach.keyId).execute();
  // A walk along an index for each account: one over all would look at every file of theirs for each page.
  for (const accountId of accountIds) {
    const of = { accountId, accountIds, ownerId, type: filter.type };
    rows.push(...(await usedBy(reader, of, page)));
  }
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, page.limit);
}

interface FileFilter {
  readonly reach: FileReach;
  readonly type: FileType | null;
}

interface FileReachOf {
  readonly ownerId: string;
  readonly accountId: string;
  readonly accountIds: readonly string[];
  readonly type: FileType | null;
}

interface FilePage {
  readonly before: string | null;
  readonly limit: number;
}

/** The newest that posts of this account use, and none of an account beyond the reach. */
function usedBy(reader: Reader, of: FileReachOf, { before, limit }: FilePage): Promise<FileRow[]> {
  const { accountId, accountIds, ownerId, type } = of;
  let select = queryOf(reader)
    .selectFrom("file_uses as used")
    .innerJoin("files", "files.id", "used.file_id")
    .selectAll("files")
    .where("used.account_id", "=", accountId)
    // The expression keeps SQLite from beginning with the owner's files.
    .where(sql<string>`files.owner_id || ''`, "=", ownerId)
    .where(sql<boolean>`NOT EXISTS (${usesOf(sql`used.file_id`, accountIds, "NOT IN")})`);
  if (type !== null) select = select.where("type", "=", type).where("status", "=", "ready");
  if (before !== null) select = select.where("used.file_id", "<", before);
  return select.orderBy("used.file_id", "desc").limit(limit).execute();
}

export async function insertFileRow(tx: Tx, row: Insertable<Tables["files"]>): Promise<void> {
  await queryOf(tx).insertInto("files").values(row).execute();
}

/** Notes where the bytes of an upload go, so that they can be found should it be abandoned. */
export async function noteStorageKey(tx: Tx, file: OneFile, storageKey: string): Promise<void> {
  await awaited(tx, file).set({ storage_key: storageKey }).execute();
}

/**
 * Writes what an upload brought; null where it is not awaited any more (removed, or another upload was
 * first).
 */
export async function completeFileRow(
  tx: Tx,
  file: OneFile,
  set: Updateable<Tables["files"]>,
): Promise<FileRow | null> {
  const done = awaited(tx, file).set({ ...set, status: "ready" });
  return (await done.returningAll().executeTakeFirst()) ?? null;
}

interface OneFile {
  readonly ownerId: string;
  readonly id: string;
}

/** A record that is written while its upload is not over. */
function awaited(
  tx: Tx,
  { ownerId, id }: OneFile,
): UpdateQueryBuilder<Tables, "files", "files", UpdateResult> {
  return queryOf(tx)
    .updateTable("files")
    .where("id", "=", id)
    .where("owner_id", "=", ownerId)
    .where("status", "=", "uploading");
}

export async function deleteFileRow(tx: Tx, ownerId: string, id: string): Promise<void> {
  await queryOf(tx).deleteFrom("files").where("owner_id", "=", ownerId).where("id", "=", id).execute();
}

/** Rows whose upload was begun before `before` and never came to an end, taken off the table. */
export function takeAbandonedUploads(tx: Tx, ownerId: string, before: number): Promise<FileRow[]> {
  return unfinished(tx, ownerId).where("created_at", "<", before).returningAll().execute();
}

/** A record whose upload did not come to an end, taken off the table; null where there is none. */
export async function takeUnfinishedUpload(
  tx: Tx,
  file: Pick<FileRow, "owner_id" | "id">,
): Promise<FileRow | null> {
  const found = unfinished(tx, file.owner_id).where("id", "=", file.id);
  return (await found.returningAll().executeTakeFirst()) ?? null;
}

function unfinished(tx: Tx, ownerId: string): DeleteQueryBuilder<Tables, "files", DeleteResult> {
  return queryOf(tx).deleteFrom("files").where("owner_id", "=", ownerId).where("status", "=", "uploading");
}
