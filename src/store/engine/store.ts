import type { Claims } from "./claims.ts";
import type { Engine } from "./engine.ts";
import type { Ledger } from "./ledger.ts";
import type { Search } from "./search.ts";

/*
 * The one door to the database. Use cases and the publisher know the types of this file, and call functions of
 * `src/store` with them. Only `src/store` sees the handle and the SQL behind them.
 */

export { HANDLE, type Reader, type Tell, type Tx } from "./engine.ts";

/** An engine, with what is the same on each. */
export interface Store extends Engine {
  readonly claims: Claims;
  readonly ledger: Ledger;
  readonly search: Search;
}
