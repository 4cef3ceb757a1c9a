import type { Store } from "./engine/store.ts";
import type { PostgresStoreOptions } from "./postgres/postgres-store.ts";
import { openSqliteStore, type StoreOptions } from "./sqlite/sqlite-store.ts";

export { explained } from "./sqlite/database.ts";
export type { StoreOptions } from "./sqlite/sqlite-store.ts";

/**
 * Opens the store: with `url` on a PostgreSQL, else on a SQLite file, or in memory for ":memory:". The optional
 * package `pg` is only loaded for PostgreSQL. Throws `unavailable` with one sentence where it cannot be opened.
 */
export async function openStore(options: StoreOptions | PostgresStoreOptions): Promise<Store> {
  if ("file" in options) return await openSqliteStore(options);
  const { openPostgresStore } = await import("./postgres/postgres-store.ts");
  return await openPostgresStore(options);
}
