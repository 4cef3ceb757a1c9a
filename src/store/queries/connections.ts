import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import { sql, type Selectable } from "kysely";
import type { Tables } from "../engine/schema.ts";

export type ConnectionRow = Selectable<Tables["connections"]>;

/** Stores a link, forgets those that ended before `forgetBefore`, and what others keep that have run out. */
export async function insertConnection(tx: Tx, row: ConnectionRow, forgetBefore: number): Promise<void> {
  await queryOf(tx).deleteFrom("connections").where("expires_at", "<", forgetBefore).execute();
  await queryOf(tx)
    .updateTable("connections")
    .set({ pending_enc: null })
    .where("expires_at", "<=", row.created_at)
    .where("pending_enc", "is not", null)
    .execute();
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

/** By the state that a person comes back with from a platform. */
export function findConnectionByState(reader: Reader, stateHash: string): Promise<ConnectionRow | undefined> {
  return queryOf(reader)
    .selectFrom("connections")
    .selectAll()
    .where("state_hash", "=", stateHash)
    .executeTakeFirst();
}

/** A person goes to the platform: what is kept until they come back. The state before is void; false: closed. */
export async function keepConsent(
  tx: Tx,
  id: string,
  consent: { stateHash: string; pendingEnc: string; way: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("connections")
    .set({ state_hash: consent.stateHash, pending_enc: consent.pendingEnc, way: consent.way, error: null })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Takes what was kept, once: false where another answer with the same state was first. */
export async function takeConsent(tx: Tx, id: string, pendingEnc: string): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("connections")
    .set({ pending_enc: null })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .where("pending_enc", "=", pendingEnc)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * A person chooses among channels found until `expiresAt`, on the page of another token where one is given; false
 * where the link is closed.
 */
export async function keepChoice(
  tx: Tx,
  id: string,
  choice: { pendingEnc: string; way: string; expiresAt: number; tokenHash?: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("connections")
    .set({
      status: "choose",
      pending_enc: choice.pendingEnc,
      way: choice.way,
      expires_at: choice.expiresAt,
      error: null,
      ...(choice.tokenHash === undefined ? {} : { token_hash: choice.tokenHash }),
    })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Keeps others from using the link up until the transaction ends; false where one has. */
export async function holdConnection(tx: Tx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("connections")
    .set((eb) => ({ attempts: eb.ref("attempts") }))
    .where("id", "=", id)
    .where("status", "in", ["pending", "choose"])
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Uses the link up; false where another submission was first. The first account is the one in short. */
export async function completeConnection(
  tx: Tx,
  id: string,
  accountIds: readonly [string, ...string[]],
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("connections")
    .set({
      status: "connected",
      account_id: accountIds[0],
      account_ids: JSON.stringify(accountIds),
      pending_enc: null,
      error: null,
    })
    .where("id", "=", id)
    .where("status", "in", ["pending", "choose"])
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
    .set({
      error: failure.error,
      ...(failure.isLast ? { status: "failed" as const, pending_enc: null } : {}),
    })
    .where("id", "=", id)
    .where("status", "in", ["pending", "choose"])
    .execute();
}
