import type { SqliteDatabase } from "../../src/store/engine/driver.ts";
import { HANDLE, type Reader, type Store } from "../../src/store/engine/store.ts";
import { createClaims as createPostgresClaims } from "../../src/store/postgres/publishing/claims.ts";
import { createClaims } from "../../src/store/publishing/claims.ts";
import { createLedger } from "../../src/store/publishing/ledger.ts";

/** Past the store's door, for tests that look at rows or break something. */
export { queryOf } from "../../src/store/engine/handle.ts";
export { rowsOf } from "../../src/store/engine/statements.ts";

export function rawOf(reader: Reader): SqliteDatabase {
  const handle = reader[HANDLE];
  if (handle.engine !== "sqlite") throw new Error("This test is only for SQLite.");
  return handle.raw;
}

/**
 * The same store with another way to write, for tests in which writing fails or ends somebody; it closes
 * nothing.
 */
export function withWrite(store: Store, write: Store["write"]): Store {
  const base = { ...store, write };
  const isPostgres = store[HANDLE].engine === "postgres";
  return {
    ...base,
    claims: isPostgres ? createPostgresClaims(base, async () => true) : createClaims(base),
    ledger: createLedger(base),
    [Symbol.asyncDispose]: async () => {},
  };
}
