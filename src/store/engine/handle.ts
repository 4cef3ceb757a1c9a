import type { Kysely, Transaction } from "kysely";
import type { SqliteDatabase } from "./driver.ts";
import type { Tables } from "./schema.ts";
import type { Reader, Tx } from "./store.ts";

/** Where a `Reader` keeps what it is made of; only `src/store` may name it. */
export const HANDLE: unique symbol = Symbol("what the store is made of");

export type Query = Kysely<Tables>;

export interface Handle {
  readonly query: Query;
  readonly raw: SqliteDatabase;
}

export interface WritingHandle extends Handle {
  readonly query: Transaction<Tables>;
}

/** For queries in Kysely's words, which every engine understands. */
export function queryOf(reader: Reader): Query {
  return reader[HANDLE].query;
}

/** The connection that a transaction runs on, for synchronous statements in the engine's own words. */
export function rawOf(tx: Tx): SqliteDatabase {
  return tx[HANDLE].raw;
}

/** Reads in the engine's own words, after a transaction that may be under way on the connection. */
export function readRaw<T>(reader: Reader, work: (raw: SqliteDatabase) => T): Promise<T> {
  const { query, raw } = reader[HANDLE];
  return query.isTransaction ? Promise.resolve(work(raw)) : query.connection().execute(async () => work(raw));
}
