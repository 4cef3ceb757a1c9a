import { HANDLE, type Handle, type Reader } from "../engine/store.ts";
import type { SqliteDatabase } from "./driver.ts";

export interface SqliteHandle extends Handle {
  readonly raw: SqliteDatabase;
}

/** The connection itself, for synchronous statements of a transaction. */
export function rawOf(reader: Reader): SqliteDatabase {
  return sqliteOf(reader).raw;
}

/** Reads in SQLite's own words, after a transaction that may be under way on the connection. */
export function readRaw<T>(reader: Reader, work: (raw: SqliteDatabase) => T): Promise<T> {
  const { query, raw } = sqliteOf(reader);
  return query.isTransaction ? Promise.resolve(work(raw)) : query.connection().execute(async () => work(raw));
}

function sqliteOf(reader: Reader): SqliteHandle {
  const handle: Handle & Partial<SqliteHandle> = reader[HANDLE];
  if (handle.raw === undefined) throw new Error("This works only with SQLite.");
  return { ...handle, raw: handle.raw };
}
