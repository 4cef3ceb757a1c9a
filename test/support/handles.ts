import { HANDLE, type Handle, type Reader } from "../../src/store/engine/engine.ts";
import type { Store } from "../../src/store/engine/store.ts";
import type { SqliteDatabase } from "../../src/store/local/driver.ts";
import { createStore } from "../../src/store/open-store.ts";

/** Past the store's door, for tests that look at rows or break something. */
export { queryOf } from "../../src/store/engine/statements.ts";
export { rowsOf } from "../../src/store/engine/statements.ts";

/** SQLite's connection itself. */
export function rawOf(reader: Reader): SqliteDatabase {
  const { raw }: Handle & { readonly raw?: SqliteDatabase } = reader[HANDLE];
  if (raw === undefined) throw new Error("This works only with SQLite.");
  return raw;
}

/**
 * The same store with another way to write, for tests in which writing fails or ends somebody; it closes
 * nothing.
 */
export function withWrite(store: Store, write: Store["write"]): Store {
  return createStore({ ...store, write, [Symbol.asyncDispose]: async () => {} });
}
