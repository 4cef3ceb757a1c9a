import { sql } from "kysely";
import type { PostRow } from "../schema/tables.ts";
import { queryOf, rowsOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { findAccountRow, type AccountRow } from "./accounts.ts";

/* Slots: waiting posts hold them by the unique index posts_slot. */

/**
 * Reads the account and locks it until the transaction ends: who looks for a slot sees all that others took. Of
 * several accounts, lock the first by id first.
 */
export async function lockAccount(
  tx: Tx,
  { ownerId, id }: { readonly ownerId: string; readonly id: string },
): Promise<AccountRow | undefined> {
  return queryOf(tx)
    .selectFrom("accounts")
    .selectAll()
    .where("id", "=", id)
    .where("owner_id", "=", ownerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** When posts of the account wait to go out, after that moment, in order. */
export async function listWaitingTimes(reader: Reader, accountId: string, after: number): Promise<number[]> {
  const rows = await rowsOf(
    reader,
    sql<{ at: number }>`
      SELECT scheduled_at AS at FROM posts
      WHERE account_id = ${accountId} AND status IN ('scheduled', 'publishing', 'uploaded') AND scheduled_at > ${after}`,
  );
  return rows.map(({ at }) => at).sort((a, b) => a - b);
}

/** The posts that wait in slots of the account and that no process works on, in the order of their times. */
export function listSlotPosts(
  reader: Reader,
  account: Pick<AccountRow, "id" | "owner_id">,
): Promise<PostRow[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .selectAll()
    .where("account_id", "=", account.id)
    .where("owner_id", "=", account.owner_id)
    .where("slot_at", "is not", null)
    .where("status", "=", sql.lit("scheduled"))
    .where("lease_worker", "is", null)
    .orderBy("scheduled_at")
    .orderBy("id")
    .execute();
}

/** Frees the slots of these posts, so that they may take each other's. */
export async function freeSlotsOf(tx: Tx, posts: readonly Pick<PostRow, "id" | "owner_id">[]): Promise<void> {
  for (const { id, owner_id } of posts) await updateRows(tx, "posts", { id, owner_id }, { slot_at: null });
}

type AccountPlan = Pick<AccountRow, "name" | "is_renamed" | "schedule" | "paused" | "utm" | "updated_at">;

/** Stores what a person wants of the account. Returns it as it is then. */
export async function storePlan(
  tx: Tx,
  { id, owner_id }: Pick<AccountRow, "id" | "owner_id">,
  change: Partial<AccountPlan>,
): Promise<AccountRow | undefined> {
  await updateRows(tx, "accounts", { id, owner_id }, change);
  return findAccountRow(tx, owner_id, id);
}
