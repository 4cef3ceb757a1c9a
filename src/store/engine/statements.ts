import { CompiledQuery, sql, type RawBuilder } from "kysely";
import { HANDLE, type Reader } from "./store.ts";

/*
 * Statements beside Kysely's builder: a template (`sql`) in words that both engines read, or, in the room of one
 * engine, a text in its own words with its own marks for `values`.
 */

type Statement<T> = RawBuilder<T> | string;

/** The rows that a statement gives. */
export async function rowsOf<T>(
  reader: Reader,
  statement: Statement<T>,
  values: readonly unknown[] = [],
): Promise<T[]> {
  return (await execute<T>(reader, statement, values)).rows;
}

/** Its first row; undefined where it gives none. */
export async function rowOf<T>(
  reader: Reader,
  statement: Statement<T>,
  values: readonly unknown[] = [],
): Promise<T | undefined> {
  return (await rowsOf(reader, statement, values))[0];
}

/** Runs a statement that gives no rows; answers how many it changed. */
export async function change(
  reader: Reader,
  statement: Statement<unknown>,
  values: readonly unknown[] = [],
): Promise<number> {
  return Number((await execute(reader, statement, values)).numAffectedRows ?? 0n);
}

function execute<T>(reader: Reader, statement: Statement<T>, values: readonly unknown[]) {
  const { query } = reader[HANDLE];
  return query.executeQuery<T>(
    typeof statement === "string" ? CompiledQuery.raw(statement, [...values]) : statement.compile(query),
  );
}

/** What follows `IN` in a template; the list may be empty. */
export function anyOf(values: readonly string[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`(SELECT '' WHERE FALSE)` : sql`(${sql.join(values)})`;
}
