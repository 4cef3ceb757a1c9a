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
import type { FileType } from "../../domain/files/file.ts";
import type { PostRow, Tables } from "../schema/tables.ts";
import { change, deleteRows, findRow, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type FileRow = Selectable<Tables["files"]>;

/** In the key of a file that was taken in for a draft, which goes once nothing names it. */
export const TAKEN_IN = "taken-in/";

/** Files that were taken in for drafts before then and that no post names. */
export function listUnnamedTakenIn(reader: Reader, before: number): Promise<FileRow[]> {
  return queryOf(reader)
    .selectFrom("files")
    .selectAll("files")
    .where("storage_key", "like", `%/${TAKEN_IN}%`)
    .where("updated_at", "<", before)
    .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM file_uses AS uses WHERE uses.file_id = files.id)`)
    .orderBy("id")
    .execute();
}

/** The files that a key reaches. One that is limited to accounts does not reach all of the owner's. */
export interface FileReach {
  readonly ownerId: string;
  /** Null: all of the owner's files. */
  readonly accountIds: readonly string[] | null;
  /** A limited key reaches what it uploaded itself, in whatever posts it is used. */
  readonly keyId: string;
}

/** All files of the owner, for work without a key. */
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

/** What the key uploaded itself, and what only posts of its accounts use. */
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
 * Locks the files until the transaction ends: deleting one and using it in a post happen one after the other, and
 * each sees what the other did. In the order of the ids, so that transactions do not wait in a circle.
 */
export async function lockFiles(tx: Tx, ownerId: string, ids: readonly string[]): Promise<void> {
  for (const id of [...new Set(ids)].sort()) await updateRows(tx, "files", { id, owner_id: ownerId }, { id });
}

/** Whether posts of accounts beyond the reach use the file. */
export async function isUsedBeyond(reader: Reader, reach: FileReach, id: string): Promise<boolean> {
  if (reach.accountIds === null) return false;
  const { rows } = await usesOf(sql`${id}`, reach.accountIds, "NOT IN").execute(queryOf(reader));
  return rows.length > 0;
}

/** By an address that we signed, which proves who may ask. So the owner is not needed. */
export async function findSignedFile(reader: Reader, id: string): Promise<FileRow | null> {
  return (await findRow(reader, "files", { id })) ?? null;
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
  // One query an account walks along an index. One over all accounts would read all of their files for each page.
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

interface UsedBy {
  readonly ownerId: string;
  readonly accountId: string;
  readonly accountIds: readonly string[];
  readonly type: FileType | null;
}

interface FilePage {
  readonly before: string | null;
  readonly limit: number;
}

/** The newest files that posts of this account use, and no posts of accounts beyond the reach. */
function usedBy(reader: Reader, of: UsedBy, { before, limit }: FilePage): Promise<FileRow[]> {
  const { accountId, accountIds, ownerId, type } = of;
  let select = queryOf(reader)
    .selectFrom("file_uses as used")
    .innerJoin("files", "files.id", "used.file_id")
    .selectAll("files")
    .where("used.account_id", "=", accountId)
    // The expression keeps SQLite from the index over the owner's files.
    .where(sql<string>`files.owner_id || ''`, "=", ownerId)
    .where(sql<boolean>`NOT EXISTS (${usesOf(sql`used.file_id`, accountIds, "NOT IN")})`);
  if (type !== null) select = select.where("type", "=", type).where("status", "=", "ready");
  if (before !== null) select = select.where("used.file_id", "<", before);
  return select.orderBy("used.file_id", "desc").limit(limit).execute();
}

export async function insertFileRow(tx: Tx, row: Insertable<Tables["files"]>): Promise<void> {
  await queryOf(tx).insertInto("files").values(row).execute();
}

/** Stores where the bytes of an upload go, so that they are found if it is abandoned. */
export async function noteStorageKey(tx: Tx, file: OneFile, storageKey: string): Promise<void> {
  await awaited(tx, file).set({ storage_key: storageKey }).execute();
}

/** Stores what was uploaded. Null where the record was removed, or another upload was first. */
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
  await deleteRows(tx, "files", { owner_id: ownerId, id });
}

/** Deletes the rows of uploads that were begun before `before` and never finished, and returns them. */
export function takeAbandonedUploads(tx: Tx, ownerId: string, before: number): Promise<FileRow[]> {
  return unfinished(tx, ownerId).where("created_at", "<", before).returningAll().execute();
}

/** Deletes the row of an upload that did not finish, and returns it. Null where there is none. */
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

/** An address that is a whole JSON string. A caption that only mentions an address does not match. */
const QUOTED_ADDRESS = /"r2:\/\/([a-z0-9/_.-]+)"/g;

/**
 * The number of waiting posts that name each key, in `media_url` or anywhere in `metadata`, without keys that none
 * names. With accounts only of their posts.
 */
export async function countUses(
  reader: Reader,
  of: PostScope,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>();
  if (keys.length === 0) return uses;
  const add = (key: string, count: number): unknown => uses.set(key, (uses.get(key) ?? 0) + count);
  const urls = keys.map((key) => `r2://${key}`);
  for (const row of await countByMediaUrl(reader, of, urls))
    add(row.media_url.slice("r2://".length), row.posts);
  const wanted = new Set(keys);
  for (const row of await namedInMetadata(reader, of)) {
    const named = new Set([...(row.metadata ?? "").matchAll(QUOTED_ADDRESS)].map((match) => match[1] ?? ""));
    for (const key of named) if (wanted.has(key) && row.media_url !== `r2://${key}`) add(key, 1);
  }
  return uses;
}

/** The waiting posts that name the key, as `countUses` counts them, earliest first. */
export function listUses(
  reader: Reader,
  of: PostScope,
  key: string,
): Promise<Pick<PostRow, "id" | "caption" | "media_url">[]> {
  const url = `r2://${key}`;
  return waitingPosts(reader, of)
    .select(["id", "caption", "media_url"])
    .where((eb) =>
      eb.or([
        eb("media_url", "=", url),
        eb.and([
          eb("status", "in", ["scheduled", "publishing", "uploaded"]),
          eb("metadata", "like", `%"${url}"%`),
        ]),
      ]),
    )
    .orderBy("scheduled_at")
    .orderBy("id")
    .execute();
}

type PostScope = Pick<FileReach, "ownerId" | "accountIds">;

const waitingPosts = (reader: Reader, { ownerId, accountIds }: PostScope) =>
  queryOf(reader)
    .selectFrom("posts")
    .where("owner_id", "=", ownerId)
    .where("next_at", "is not", null)
    .$if(accountIds !== null, (all) => all.where("account_id", "in", accountIds ?? []));

function countByMediaUrl(
  reader: Reader,
  of: PostScope,
  urls: readonly string[],
): Promise<{ media_url: string; posts: number }[]> {
  return (
    waitingPosts(reader, of)
      .select(["media_url", sql<number>`count(*)`.as("posts")])
      .where("media_url", "in", urls)
      // The condition of the partial index posts_waiting_media, so that it is used.
      .where(sql<boolean>`media_url <> ''`)
      .groupBy("media_url")
      .execute()
  );
}

function namedInMetadata(
  reader: Reader,
  of: PostScope,
): Promise<{ media_url: string; metadata: string | null }[]> {
  return waitingPosts(reader, of)
    .select(["media_url", "metadata"])
    .where("status", "in", ["scheduled", "publishing", "uploaded"])
    .where(sql<boolean>`metadata LIKE '%"r2://%'`)
    .execute();
}

type Using = Pick<PostRow, "account_id" | "file_ids">;

/** Below both engines' limits of values in a statement. */
const COUNTED_TOGETHER = 500;

/** Counts which files the posts of an account use, beside every change of `file_ids`. */
export async function countFileUses(
  tx: Tx,
  { before, after }: { readonly before: readonly Using[]; readonly after: readonly Using[] },
): Promise<void> {
  const uses = new Map<string, { account_id: string; file_id: string; posts: number }>();
  const add = (posts: readonly Using[], by: number): void => {
    for (const { account_id, file_ids } of posts)
      for (const file_id of JSON.parse(file_ids ?? "[]") as readonly string[]) {
        const key = `${account_id} ${file_id}`;
        uses.set(key, { account_id, file_id, posts: (uses.get(key)?.posts ?? 0) + by });
      }
  };
  add(before, -1);
  add(after, 1);
  // In one order, so that two transactions do not wait for each other.
  const changed = [...uses]
    .filter(([, { posts }]) => posts !== 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, use]) => use);
  for (let at = 0; at < changed.length; at += COUNTED_TOGETHER)
    await queryOf(tx)
      .insertInto("file_uses")
      .values(changed.slice(at, at + COUNTED_TOGETHER))
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "file_id"])
          .doUpdateSet({ posts: sql<number>`file_uses.posts + excluded.posts` }),
      )
      .execute();
  for (const { account_id, file_id } of changed.filter(({ posts }) => posts < 0))
    await change(
      tx,
      sql`DELETE FROM file_uses WHERE account_id = ${account_id} AND file_id = ${file_id} AND posts <= 0`,
    );
}
