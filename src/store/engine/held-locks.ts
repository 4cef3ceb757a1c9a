import type { SqliteDatabase } from "./driver.ts";

/** A lock ends with its handle, and the garbage collector closes a handle that nothing refers to any more. */
const HELD = new Set<SqliteDatabase>();

/**
 * Keeps a handle with its lock open until the function that it answers is called, whoever has forgotten it.
 */
export function keepOpen(database: SqliteDatabase): () => void {
  HELD.add(database);
  return () => {
    HELD.delete(database);
    database.close();
  };
}
