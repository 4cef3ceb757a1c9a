import type { Selectable } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { deleteRows, findRow, insertNew, listRows, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type ApiKeyRow = Selectable<Tables["api_keys"]>;

/** The row says whose request it is. So this is the one look-up that cannot know the owner. */
export function findApiKeyRow(reader: Reader, id: string): Promise<ApiKeyRow | undefined> {
  return findRow(reader, "api_keys", { id });
}

/** In order of creation, with revoked ones. */
export function listApiKeyRows(reader: Reader, ownerId: string): Promise<ApiKeyRow[]> {
  return listRows(reader, "api_keys", { owner_id: ownerId }, "id");
}

/** Whether any owner ever had a key here. Revoked ones count. */
export async function hasApiKeys(reader: Reader): Promise<boolean> {
  const row = await queryOf(reader).selectFrom("api_keys").select("id").limit(1).executeTakeFirst();
  return row !== undefined;
}

export async function insertApiKey(tx: Tx, row: ApiKeyRow): Promise<void> {
  await queryOf(tx).insertInto("api_keys").values(row).execute();
}

interface KeyChange {
  readonly ownerId: string;
  readonly id: string;
  readonly now: number;
}

/** Null when the owner has no such key. The time of the first revocation stays. What it gave to programs ends, too. */
export async function revokeApiKeyRow(tx: Tx, { ownerId, id, now }: KeyChange): Promise<ApiKeyRow | null> {
  await queryOf(tx)
    .updateTable("api_keys")
    .set({ revoked_at: now })
    .where("owner_id", "=", ownerId)
    .where("revoked_at", "is", null)
    .where("id", "in", ({ selectFrom }) =>
      selectFrom("oauth_grants").select("id").where("owner_id", "=", ownerId).where("given_by", "=", id),
    )
    .execute();
  await updateRows(tx, "api_keys", { owner_id: ownerId, id, revoked_at: null }, { revoked_at: now });
  return (await findRow(tx, "api_keys", { owner_id: ownerId, id })) ?? null;
}

/** A program's access lasts for as long as it is used. */
export async function extendApiKey(
  tx: Tx,
  { ownerId, id, expiresAt }: { readonly ownerId: string; readonly id: string; readonly expiresAt: number },
): Promise<void> {
  await updateRows(tx, "api_keys", { owner_id: ownerId, id, revoked_at: null }, { expires_at: expiresAt });
}

export async function touchApiKey(tx: Tx, { ownerId, id, now }: KeyChange): Promise<void> {
  await updateRows(tx, "api_keys", { owner_id: ownerId, id }, { last_used_at: now });
}

/* The idempotency keys of calls, and the answers that are kept for them. */

export type IdempotencyRow = Selectable<Tables["idempotency"]>;

type KeyRef = Pick<IdempotencyRow, "owner_id" | "key_hash">;

export function findKey(tx: Tx, { owner_id, key_hash }: KeyRef): Promise<IdempotencyRow | undefined> {
  return findRow(tx, "idempotency", { owner_id, key_hash });
}

/** False where the key is there already. Deletes keys that have expired. */
export async function insertKey(tx: Tx, row: IdempotencyRow): Promise<boolean> {
  await queryOf(tx).deleteFrom("idempotency").where("expires_at", "<=", row.created_at).execute();
  return insertNew(tx, "idempotency", row);
}

/** Takes the key over from a dead worker. False where another process was first. */
export async function takeOverKey(tx: Tx, seen: IdempotencyRow, workerId: string): Promise<boolean> {
  const { owner_id, key_hash, worker_id } = seen;
  const where = { owner_id, key_hash, worker_id, result: null };
  return (await updateRows(tx, "idempotency", where, { worker_id: workerId })) === 1;
}

/** Stores the answer. False where the worker has lost the key. */
export async function completeKey(
  tx: Tx,
  { owner_id, key_hash }: KeyRef,
  { workerId, result }: { readonly workerId: string; readonly result: string },
): Promise<boolean> {
  const where = { owner_id, key_hash, worker_id: workerId };
  return (await updateRows(tx, "idempotency", where, { worker_id: null, result })) === 1;
}

/** Another answer in the place of the one that is kept. */
export async function amendKey(tx: Tx, { owner_id, key_hash }: KeyRef, result: string): Promise<void> {
  await updateRows(tx, "idempotency", { owner_id, key_hash, worker_id: null }, { result });
}

/** Frees a key whose work failed. */
export async function deleteKey(tx: Tx, { owner_id, key_hash }: KeyRef, workerId: string): Promise<void> {
  await deleteRows(tx, "idempotency", { owner_id, key_hash, worker_id: workerId });
}
