import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import type { Selectable } from "kysely";
import type { Tables } from "../engine/schema.ts";

export type CalendarLinkRow = Selectable<Tables["calendar_links"]>;

export function findCalendarLink(reader: Reader, ownerId: string): Promise<CalendarLinkRow | undefined> {
  return queryOf(reader)
    .selectFrom("calendar_links")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .executeTakeFirst();
}

/** By the address's token, which is the proof of who asks: the one look-up without an owner. */
export function findCalendarLinkByToken(
  reader: Reader,
  tokenHash: string,
): Promise<CalendarLinkRow | undefined> {
  return queryOf(reader)
    .selectFrom("calendar_links")
    .selectAll()
    .where("token_hash", "=", tokenHash)
    .executeTakeFirst();
}

/** False where there is one already. */
export async function insertCalendarLink(tx: Tx, row: CalendarLinkRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await queryOf(tx)
    .insertInto("calendar_links")
    .values(row)
    .onConflict((conflict) => conflict.column("owner_id").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** In place of the one there was: its address ends. */
export async function putCalendarLink(tx: Tx, row: CalendarLinkRow): Promise<void> {
  await queryOf(tx)
    .insertInto("calendar_links")
    .values(row)
    .onConflict((conflict) => conflict.column("owner_id").doUpdateSet(row))
    .execute();
}

/** False where there was none. */
export async function deleteCalendarLink(tx: Tx, ownerId: string): Promise<boolean> {
  const { numDeletedRows } = await queryOf(tx)
    .deleteFrom("calendar_links")
    .where("owner_id", "=", ownerId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
