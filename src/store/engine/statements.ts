import {
  CompiledQuery,
  sql,
  type Insertable,
  type Kysely,
  type RawBuilder,
  type Selectable,
  type Updateable,
} from "kysely";
import type { Tables } from "../schema/tables.ts";
import { HANDLE, type PostIndex, type Reader, type Tx } from "./engine.ts";

/*
 * How `src/store` reads and writes. Kysely's builder (`queryOf`) for queries, the functions on rows for the
 * simplest of them, a template (`sql`) for what the builder cannot say. In the folder of one engine also a text in
 * its own SQL, with its own placeholders for `values`.
 */

export type Query = Kysely<Tables>;

export function queryOf(reader: Reader): Query {
  return reader[HANDLE].query;
}

/** The index by which posts are found by their words. */
export function indexOf(reader: Reader): PostIndex {
  return reader[HANDLE].index;
}

/** Texts as rows of a FROM clause, named `one`, in its column `value`. */
export function rowsFrom(reader: Reader, texts: readonly string[]): RawBuilder<unknown> {
  return reader[HANDLE].rowsFrom(texts);
}

type Table = keyof Tables;

/** Columns that must have these values, or one of several. Null is a value; undefined leaves a column out. */
type Conditions<T extends Table> = {
  readonly [C in keyof Selectable<Tables[T]>]?:
    Selectable<Tables[T]>[C] | readonly Selectable<Tables[T]>[C][] | undefined;
};

/** New values, or expressions in `sql`. */
type NewValues<T extends Table> = {
  readonly [C in keyof Updateable<Tables[T]>]?: Updateable<Tables[T]>[C] | RawBuilder<unknown>;
};

function matching<T extends Table>(where: Conditions<T>): RawBuilder<unknown> {
  const conditions = Object.entries(where).flatMap(([column, value]) => {
    if (value === undefined) return [];
    if (Array.isArray(value)) return [sql`${sql.ref(column)} IN ${anyOf(value)}`];
    return [value === null ? sql`${sql.ref(column)} IS NULL` : sql`${sql.ref(column)} = ${value}`];
  });
  return sql.join(conditions, sql` AND `);
}

export function findRow<T extends Table>(
  reader: Reader,
  table: T,
  where: Conditions<T>,
): Promise<Selectable<Tables[T]> | undefined> {
  return rowOf(
    reader,
    sql<Selectable<Tables[T]>>`SELECT * FROM ${sql.table(table)} WHERE ${matching(where)} LIMIT 1`,
  );
}

/** In the order of this column. Ids are in order of creation. */
export function listRows<T extends Table>(
  reader: Reader,
  table: T,
  where: Conditions<T>,
  order: keyof Selectable<Tables[T]> & string,
): Promise<Selectable<Tables[T]>[]> {
  return rowsOf(
    reader,
    sql<
      Selectable<Tables[T]>
    >`SELECT * FROM ${sql.table(table)} WHERE ${matching(where)} ORDER BY ${sql.ref(order)}`,
  );
}

/** False where a row with the same key is there already. */
export async function insertNew<T extends Table>(
  tx: Tx,
  table: T,
  row: Insertable<Tables[T]>,
): Promise<boolean> {
  const columns = Object.keys(row).map((column) => sql.ref(column));
  const values = sql.join(Object.values(row));
  const insert = sql`INSERT INTO ${sql.table(table)} (${sql.join(columns)}) VALUES (${values}) ON CONFLICT DO NOTHING`;
  return (await change(tx, insert)) === 1;
}

/** Returns how many rows were changed. */
export function updateRows<T extends Table>(
  tx: Tx,
  table: T,
  where: Conditions<T>,
  set: NewValues<T>,
): Promise<number> {
  const values = Object.entries(set).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`],
  );
  return change(tx, sql`UPDATE ${sql.table(table)} SET ${sql.join(values)} WHERE ${matching(where)}`);
}

/** Returns how many rows were deleted. */
export function deleteRows<T extends Table>(tx: Tx, table: T, where: Conditions<T>): Promise<number> {
  return change(tx, sql`DELETE FROM ${sql.table(table)} WHERE ${matching(where)}`);
}

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

interface Batches {
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
