import { DEATH } from "./postgres-store-on.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { findDue } from "../../src/store/postgres/claims.ts";
import { createClaims } from "../../src/store/queries/publishing/claims.ts";
import { queue } from "../../src/store/sqlite/claims.ts";
import { createLedger } from "../../src/store/queries/publishing/ledger.ts";

/** Past the store's door, for tests that look at rows or break something. */
export { queryOf } from "../../src/store/engine/statements.ts";
export { rowsOf } from "../../src/store/engine/statements.ts";
export { rawOf } from "../../src/store/sqlite/driver.ts";

/**
 * The same store with another way to write, for tests in which writing fails or ends somebody; it closes
 * nothing.
 */
export function withWrite(store: Store, write: Store["write"]): Store {
  const base = { ...store, write };
  return {
    ...base,
    claims: createClaims(base, store.isShared ? { findDue, death: async () => DEATH } : queue),
    ledger: createLedger(base),
    [Symbol.asyncDispose]: async () => {},
  };
}
