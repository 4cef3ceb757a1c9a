import type { PostIndex, Store } from "../../src/store/engine/store.ts";
import type { PostgresOptions } from "../../src/store/postgres/connect/connections.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { createClaims } from "../../src/store/postgres/publishing/claims.ts";
import { createLedger } from "../../src/store/postgres/publishing/ledger.ts";

/** For tests that look for nothing by its words. */
export const NO_INDEX: PostIndex = { put: async () => {}, remove: async () => {} };

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
      createLiveness: () => ({
        hold: async () => ({ release: async () => {} }),
        check: () => {},
        listDead: async () => [],
      }),
      createSearch: () => ({
        page: async () => {
          throw new Error("This store has no search.");
        },
      }),
    },
  );
}
