import type { Query, Tx } from "../engine/db.ts";
import type { SqliteDatabase } from "../engine/driver.ts";

/** Facts about the database itself, by name. */
export async function readMeta(query: Query | Tx, key: string): Promise<string | null> {
  const row = await query.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value ?? null;
}

/** Writes a fact that is not there yet; false where another was first. */
export async function insertMeta(query: Query | Tx, key: string, value: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await query
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Writes a fact, whatever it was before. Inside a transaction. */
export function setMeta(raw: SqliteDatabase, key: string, value: string): void {
  raw
    .prepare(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )
    .run([key, value]);
}
