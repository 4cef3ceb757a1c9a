import { systemClock } from "../../src/app/system-clock.ts";
import type { Death } from "../../src/store/engine/engine.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { PostgresOptions } from "../../src/store/postgres/engine.ts";
import type { Leases } from "../../src/store/postgres/liveness.ts";

/** Whoever has no lock is dead, whenever it was heard of: tests have clocks of their own. */
const NO_LEASE: Leases = { leaseMs: -1e15, stopsMs: 0, leaseElsewhereMs: -1e15, requestMs: 0 };

/** Of one who has sent nothing lately. */
export const DEATH: Death = { arrivedAt: -Infinity };

/** The store, as another process would open it. A worker that is taken over from has no lease. */
export function openStoreOn(
  url: string,
  options: Partial<Omit<PostgresOptions, "url">> = {},
): Promise<Store> {
  return openStore({ url, clock: systemClock, leases: NO_LEASE, ...options });
}
