import { deleteRows, findRow, insertNew, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

/** Facts about the database itself, by name. */
export async function readMeta(reader: Reader, key: string): Promise<string | null> {
  return (await findRow(reader, "meta", { key }))?.value ?? null;
}

/** Stores a new fact. False where it is there already. */
export function insertMeta(tx: Tx, key: string, value: string): Promise<boolean> {
  return insertNew(tx, "meta", { key, value });
}

/** Replaces a fact, or with `from` null stores a new one. False where another process was first. */
export async function replaceMeta(
  tx: Tx,
  key: string,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<boolean> {
  if (from === null) return insertMeta(tx, key, to);
  return (await updateRows(tx, "meta", { key, value: from }, { value: to })) === 1;
}

/** Stores a fact, new or not. */
export async function setMeta(tx: Tx, key: string, value: string): Promise<void> {
  await queryOf(tx)
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Deletes a fact that is never there. Fails where the database can only be read. */
export async function tryWriting(tx: Tx): Promise<void> {
  await deleteRows(tx, "meta", { key: "" });
}
