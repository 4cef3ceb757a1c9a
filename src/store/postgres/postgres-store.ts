import { AppError } from "../../domain/errors.ts";
import type { PostIndex, Store } from "../engine/store.ts";
import { createClaims } from "../queries/publishing/claims.ts";
import { createLedger } from "../queries/publishing/ledger.ts";
import { createSearch } from "../queries/search.ts";
import { findDue } from "./claims.ts";
import { openConnections, type PostgresOptions } from "./connect/connections.ts";
import { createLiveness, proveDeath, type LivenessOptions } from "./liveness.ts";
import { postIndex } from "./post-index.ts";

export interface PostgresStoreOptions extends PostgresOptions, Omit<LivenessOptions, "connect"> {
  /** Default: by the words of the posts. */
  readonly index?: PostIndex | undefined;
}

/** Opens the store on a PostgreSQL. Throws what `openConnections` throws. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, times, leases, index = postIndex, ...address } = options;
  const { connect, ...base } = await openConnections(address, index);
  const { liveness, wake, ...heartbeat } = await createLiveness(base, { connect, clock, times, leases });
  return {
    ...base,
    engine: "PostgreSQL",
    isPresent: () => !base.lost.aborted,
    claims: createClaims(base, { findDue, death: (tx, workerId) => proveDeath(tx, workerId, leases) }),
    ledger: createLedger(base),
    liveness,
    wake,
    search: createSearch(base),
    isShared: true,
    // Autovacuum does it.
    tidy: async () => {},
    copyTo: async () => {
      throw new AppError(
        "conflict",
        "A database on PostgreSQL is copied by PostgreSQL's own pg_dump: pg_dump --format=custom --file=posthorn.dump with the address of DATABASE_URL.",
      );
    },
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
}
