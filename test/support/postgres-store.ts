import type { Store } from "../../src/store/engine/store.ts";
import type { PostgresOptions } from "../../src/store/postgres/connect/connections.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { createClaims } from "../../src/store/postgres/publishing/claims.ts";
import { createLedger } from "../../src/store/postgres/publishing/ledger.ts";
import { createDatabase, NO_INDEX } from "./postgres.ts";

/** A store on a database of its own, which goes with it. */
export async function openTestStore(): Promise<Store> {
  const database = await createDatabase();
  const store = await openStoreOn(database.url);
  return {
    ...store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/**
 * A store without search, for tests of what publishers do; as another process would open it. A worker that is
 * taken over from counts as dead.
 */
export function openStoreOn(url: string, options: Omit<PostgresOptions, "url"> = {}): Promise<Store> {
  return openPostgresStore(
    { url, ...options },
    {
      index: NO_INDEX,
      createClaims: ({ publisher }) => createClaims(publisher, async () => true),
      createLedger: ({ publisher }) => createLedger(publisher),
      createSearch: () => ({
        page: async () => {
          throw new Error("This store has no search.");
        },
      }),
      createLiveness: () => ({
        hold: async () => ({ release: async () => {} }),
        check: () => {},
        listDead: async () => [],
      }),
    },
  );
}
