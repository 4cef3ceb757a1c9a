import type { Store } from "./engine/store.ts";
import type { PostgresStoreOptions } from "./postgres/postgres-store.ts";
import { openSqliteStore, type StoreOptions } from "./sqlite/sqlite-store.ts";

/** What is the matter with the disk or the file, as an AppError; anything else as it is. */
export { explained } from "./sqlite/database.ts";
export type { StoreOptions } from "./sqlite/sqlite-store.ts";

/**
 * Opens the store: with `url` on a PostgreSQL, whose driver nobody else loads; else on a SQLite file, or in
 * memory for ":memory:". Throws `unavailable` with one sentence where it cannot.
 */
export async function openStore(options: StoreOptions | PostgresStoreOptions): Promise<Store> {
  if ("file" in options) return await openSqliteStore(options);
  const { openPostgresStore } = await import("./postgres/postgres-store.ts");
  return await openPostgresStore(options);
}
