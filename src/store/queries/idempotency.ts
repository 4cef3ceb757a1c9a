import type { Selectable } from "kysely";
import { queryOf } from "../engine/handle.ts";
import type { Tables } from "../engine/schema.ts";
import type { Tx } from "../engine/store.ts";

export type IdempotencyRow = Selectable<Tables["idempotency"]>;

export interface KeyRef {
  readonly ownerId: string;
  readonly keyHash: string;
}

export function findKey(tx: Tx, { ownerId, keyHash }: KeyRef): Promise<IdempotencyRow | undefined> {
  return queryOf(tx)
    .selectFrom("idempotency")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("key_hash", "=", keyHash)
    .executeTakeFirst();
}

/** False where the key is there already. Forgets those whose time is over. */
export async function insertKey(tx: Tx, row: IdempotencyRow): Promise<boolean> {
  await queryOf(tx).deleteFrom("idempotency").where("expires_at", "<=", row.created_at).execute();
  const { numInsertedOrUpdatedRows } = await queryOf(tx)
    .insertInto("idempotency")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Takes the key, as it was read, from a worker that is dead; false where another was first. */
export async function takeOverKey(tx: Tx, seen: IdempotencyRow, workerId: string): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("idempotency")
    .set({ worker_id: workerId })
    .where("owner_id", "=", seen.owner_id)
    .where("key_hash", "=", seen.key_hash)
    .where("worker_id", seen.worker_id === null ? "is" : "=", seen.worker_id)
    .where("result", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Keeps the answer; false where the key is not this worker's any more. */
export async function completeKey(
  tx: Tx,
  key: KeyRef,
  done: { readonly workerId: string; readonly result: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("idempotency")
    .set({ worker_id: null, result: done.result })
    .where("owner_id", "=", key.ownerId)
    .where("key_hash", "=", key.keyHash)
    .where("worker_id", "=", done.workerId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Frees a key whose work failed. */
export async function deleteKey(tx: Tx, { ownerId, keyHash }: KeyRef, workerId: string): Promise<void> {
  await queryOf(tx)
    .deleteFrom("idempotency")
    .where("owner_id", "=", ownerId)
    .where("key_hash", "=", keyHash)
    .where("worker_id", "=", workerId)
    .execute();
}
