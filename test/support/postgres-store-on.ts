import { systemClock } from "../../src/app/system-clock.ts";
import type { Death } from "../../src/store/engine/liveness.ts";
import type { PostIndex, Store } from "../../src/store/engine/store.ts";
import type { Leases } from "../../src/store/postgres/liveness.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/postgres-store.ts";

/** For tests that look for nothing by its words. */
export const NO_INDEX: PostIndex = { put: async () => {}, find: async () => null };

/** Whoever has no lock is dead, whenever it was heard of: tests have clocks of their own. */
const NO_LEASE: Leases = { leaseMs: -1e15, stopsMs: 0, leaseElsewhereMs: -1e15, requestMs: 0 };

/** Of one who has sent nothing lately. */
export const DEATH: Death = { arrivedAt: -Infinity };

/** The store, as another process would open it. A worker that is taken over from has no lease. */
export function openStoreOn(
  url: string,
  options: Partial<Omit<PostgresStoreOptions, "url">> = {},
): Promise<Store> {
  return openPostgresStore({ url, clock: systemClock, leases: NO_LEASE, ...options });
}
