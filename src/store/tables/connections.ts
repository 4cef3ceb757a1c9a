import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import { sql, type Selectable } from "kysely";
import type { Tables } from "../engine/schema.ts";

export type ConnectionRow = Selectable<Tables["connections"]>;

/** Stores a link and forgets those that ended before `forgetBefore`. */
export async function insertConnection(tx: Tx, row: ConnectionRow, forgetBefore: number): Promise<void> {
  await queryOf(tx).deleteFrom("connections").where("expires_at", "<", forgetBefore).execute();
  await queryOf(tx).insertInto("connections").values(row).execute();
}

export function findConnection(
  reader: Reader,
  ownerId: string,
  id: string,
): Promise<ConnectionRow | undefined> {
  return queryOf(reader)
    .selectFrom("connections")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** By the page's token, which is the proof of who asks: the one look-up without an owner. */
export function findConnectionByToken(reader: Reader, tokenHash: string): Promise<ConnectionRow | undefined> {
  return queryOf(reader)
    .selectFrom("connections")
    .selectAll()
    .where("token_hash", "=", tokenHash)
    .executeTakeFirst();
}

/** Counts a try of an open link; undefined where it is not open any more or had its last try. */
export function countAttempt(
  tx: Tx,
  id: string,
  open: { now: number; maxAttempts: number },
): Promise<ConnectionRow | undefined> {
  return queryOf(tx)
    .updateTable("connections")
    .set({ attempts: sql<number>`attempts + 1` })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .where("expires_at", ">", open.now)
    .where("attempts", "<", open.maxAttempts)
    .returningAll()
    .executeTakeFirst();
}

/** Uses the link up; false where another submission was first. */
export async function completeConnection(tx: Tx, id: string, accountId: string): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("connections")
    .set({ status: "connected", account_id: accountId, error: null })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Notes why the last try did not work; the last one of all closes the link. */
export async function noteFailure(
  tx: Tx,
  id: string,
  failure: { error: string; isLast: boolean },
): Promise<void> {
  await queryOf(tx)
    .updateTable("connections")
    .set({ error: failure.error, status: failure.isLast ? "failed" : "pending" })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .execute();
}
