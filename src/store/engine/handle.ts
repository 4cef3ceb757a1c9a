import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import { HANDLE, type PostIndex, type Reader } from "./store.ts";

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
