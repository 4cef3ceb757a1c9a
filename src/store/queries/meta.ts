import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";

/** Facts about the database itself, by name. */
export async function readMeta(reader: Reader, key: string): Promise<string | null> {
  const row = await queryOf(reader)
    .selectFrom("meta")
    .select("value")
    .where("key", "=", key)
    .executeTakeFirst();
  return row?.value ?? null;
}

/** Writes a fact that is not there yet; false where another was first. */
export async function insertMeta(tx: Tx, key: string, value: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await queryOf(tx)
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Replaces a fact, or writes one that is not there (`from` null); false where another was faster. */
export async function replaceMeta(
  tx: Tx,
  key: string,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<boolean> {
  if (from === null) return insertMeta(tx, key, to);
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("meta")
    .set({ value: to })
    .where("key", "=", key)
    .where("value", "=", from)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Writes a fact, whatever it was before. */
export async function setMeta(tx: Tx, key: string, value: string): Promise<void> {
  await queryOf(tx)
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Takes a fact away that is never there: a database that can be read alone refuses it, and nothing else. */
export async function tryWriting(tx: Tx): Promise<void> {
  await queryOf(tx).deleteFrom("meta").where("key", "=", "").execute();
}
