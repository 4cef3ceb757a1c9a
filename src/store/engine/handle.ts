import type { Kysely } from "kysely";
import type { SqliteDatabase } from "./driver.ts";
import type { Tables } from "./schema.ts";
import { HANDLE, type PostIndex, type Reader, type SqliteHandle, type Tx } from "./store.ts";

/* What is behind a `Reader`; only `src/store` may look. */

export type Query = Kysely<Tables>;

/** For queries in Kysely's words, which every engine understands. */
export function queryOf(reader: Reader): Query {
  return reader[HANDLE].query;
}

/** What makes posts findable by their words. */
export function indexOf(reader: Reader): PostIndex {
  return reader[HANDLE].index;
}

/** The connection that a transaction runs on, for synchronous statements of SQLite's own rooms. */
export function rawOf(tx: Tx): SqliteDatabase {
  return sqliteOf(tx).raw;
}

/** Reads in SQLite's own words, after a transaction that may be under way on the connection. */
export function readRaw<T>(reader: Reader, work: (raw: SqliteDatabase) => T): Promise<T> {
  const { query, raw } = sqliteOf(reader);
  return query.isTransaction ? Promise.resolve(work(raw)) : query.connection().execute(async () => work(raw));
}

function sqliteOf(reader: Reader): SqliteHandle {
  const handle = reader[HANDLE];
  if (handle.engine !== "sqlite") throw new Error("This works only with SQLite.");
  return handle;
}
