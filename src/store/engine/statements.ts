import { CompiledQuery, type RawBuilder } from "kysely";
import { HANDLE, type Reader } from "./store.ts";

/*
 * Statements in SQL's own words, written once for both engines as SQLite reads them, with `?` for a value.
 * What PostgreSQL spells otherwise is told here; anything that it means otherwise stands in its own room.
 */

/** The rows that a statement gives. */
export async function rowsOf<T>(reader: Reader, text: string, values: readonly unknown[]): Promise<T[]> {
  return (await execute<T>(reader, text, values)).rows;
}

/** Its first row; undefined where it gives none. */
export async function rowOf<T>(
  reader: Reader,
  text: string,
  values: readonly unknown[],
): Promise<T | undefined> {
  return (await rowsOf<T>(reader, text, values))[0];
}

/** Runs a statement that gives no rows; answers how many it changed. */
export async function change(reader: Reader, text: string, values: readonly unknown[]): Promise<number> {
  return Number((await execute(reader, text, values)).numAffectedRows ?? 0n);
}

/** The rows of a statement that is put together from parts. */
export async function ask<T>(reader: Reader, statement: RawBuilder<T>): Promise<T[]> {
  const { sql, parameters } = statement.compile(reader[HANDLE].query);
  return (await execute<T>(reader, sql, parameters)).rows;
}

function execute<T>(reader: Reader, text: string, values: readonly unknown[]) {
  const { engine, query } = reader[HANDLE];
  const own = engine === "postgres" ? inPostgres(text) : text;
  return query.executeQuery<T>(CompiledQuery.raw(own, [...values]));
}

/** The texts are few, and each is used again and again. */
const translated = new Map<string, string>();

/**
 * Which index to use and which table to begin with is told SQLite alone. A list comes as one value, so that
 * the texts stay few.
 */
function inPostgres(text: string): string {
  const known = translated.get(text);
  if (known !== undefined) return known;
  let place = 0;
  const own = text
    .replaceAll(/ INDEXED BY \w+/g, "")
    .replaceAll(" CROSS JOIN ", " JOIN ")
    .replaceAll(/SELECT value FROM json_each\((\?|\$\d+)\)/g, "SELECT json_array_elements_text($1::json)")
    .replaceAll("?", () => `$${(place += 1)}`);
  translated.set(text, own);
  return own;
}
