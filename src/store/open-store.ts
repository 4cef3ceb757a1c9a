import type { Engine, Examination } from "./engine/engine.ts";
import type { Store } from "./engine/store.ts";
import type { PostgresOptions } from "./postgres/engine.ts";
import type { ExamineOptions } from "./postgres/findings.ts";
import { createClaims } from "./queries/publishing/claims.ts";
import { createLedger } from "./queries/publishing/ledger.ts";
import { createSearch } from "./queries/search.ts";
import { openSqliteEngine, type SqliteOptions } from "./sqlite/engine.ts";

/* The one place that chooses an engine. */

export type FileOptions = SqliteOptions;

/**
 * Opens the store: with `url` on a server, else on a file, or in memory for ":memory:". Throws `unavailable` with one
 * sentence where it cannot be opened.
 */
export async function openStore(options: SqliteOptions | PostgresOptions): Promise<Store> {
  if ("file" in options) return createStore(openSqliteEngine(options));
  // The package that it needs is optional.
  const { openPostgresEngine } = await import("./postgres/engine.ts");
  return createStore(await openPostgresEngine(options));
}

/** What is the same on each engine, on this one. */
export function createStore(engine: Engine): Store {
  return {
    ...engine,
    claims: createClaims(engine),
    ledger: createLedger(engine),
    search: createSearch(engine),
  };
}

/** Looks at a server and changes nothing. Throws `unavailable` where it cannot be reached. */
export async function examineServer(options: ExamineOptions): Promise<Examination> {
  const { examine } = await import("./postgres/findings.ts");
  return examine(options);
}
