import { CompiledQuery, sql, type RawBuilder } from "kysely";
import { HANDLE, type Reader } from "./store.ts";

/*
 * Statements beside Kysely's builder: a template (`sql`) that both engines can run, or, in the folder of one
 * engine, a text of its own SQL with its own placeholders for `values`.
 */

type Statement<T> = RawBuilder<T> | string;

export async function rowsOf<T>(
  reader: Reader,
  statement: Statement<T>,
  values: readonly unknown[] = [],
): Promise<T[]> {
  return (await execute<T>(reader, statement, values)).rows;
}

/** The first row; undefined where there is none. */
export async function rowOf<T>(
  reader: Reader,
  statement: Statement<T>,
  values: readonly unknown[] = [],
): Promise<T | undefined> {
  return (await rowsOf(reader, statement, values))[0];
}

/** Runs a statement that returns no rows. Returns how many it changed. */
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

export type Row = Readonly<Record<string, string | number | null>>;

export interface Batches {
  readonly table: string;
  /** The primary key's columns. */
  readonly keys: readonly string[];
  readonly columns: readonly string[];
  /** Default: every row. */
  readonly where?: RawBuilder<unknown>;
}

const BATCH = 1_000;

/**
 * Reads a table in the order of its keys. In batches: a statement that is still being read would keep SQLite's
 * connection from writing.
 */
export async function* readBatches(reader: Reader, batches: Batches): AsyncGenerator<readonly Row[]> {
  const { table, keys, columns, where = sql`TRUE` } = batches;
  const list = sql.join(keys.map((key) => sql.ref(key)));
  const shown = sql.join([...new Set([...keys, ...columns])].map((name) => sql.ref(name)));
  let after = sql`TRUE`;
  for (let isOver = false; !isOver;) {
    const rows: Row[] = await rowsOf(
      reader,
      sql<Row>`SELECT ${shown} FROM ${sql.table(table)} WHERE ${where} AND ${after} ORDER BY ${list} LIMIT ${BATCH}`,
    );
    const last = rows.at(-1);
    if (last !== undefined) yield rows;
    after = sql`(${list}) > (${sql.join(keys.map((key) => last?.[key]))})`;
    isOver = rows.length < BATCH;
  }
}
