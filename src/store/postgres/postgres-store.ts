import { AppError } from "../../domain/errors.ts";
import type { PostIndex, Store } from "../engine/store.ts";
import { openConnections, type PostgresOptions } from "./connect/connections.ts";
import { isProvenDead, LEASES } from "./liveness/dead-workers.ts";
import { createLiveness, type LivenessOptions } from "./liveness/liveness.ts";
import { createClaims } from "./claims.ts";
import { createLedger } from "../queries/publishing/ledger.ts";
import { createSearch } from "../queries/search/post-pages.ts";
import { postIndex } from "./post-index.ts";

export interface PostgresStoreOptions extends PostgresOptions, Omit<LivenessOptions, "connect"> {
  /** Default: by the words of the posts. */
  readonly index?: PostIndex | undefined;
}

/** Opens the store on a PostgreSQL; the errors are those of `openConnections`. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, times, leases = LEASES, index = postIndex, ...address } = options;
  const connections = await openConnections(address, index);
  const { application, publisher, connect, lost } = connections;
  const between = await createLiveness(application, { connect, clock, times, leases });
  return {
    ...application,
    writeTrouble: () => application.writeTrouble() ?? publisher.writeTrouble(),
    engine: "PostgreSQL",
    lost,
    isPresent: () => !lost.aborted,
    claims: createClaims(publisher, (tx, workerId) => isProvenDead(tx, workerId, leases)),
    ledger: createLedger(publisher),
    liveness: between.liveness,
    wake: between.wake,
    search: createSearch(application),
    isShared: true,
    // Autovacuum does.
    tidy: async () => {},
    copyTo: async () => {
      throw new AppError(
        "conflict",
        "A database on PostgreSQL is copied by PostgreSQL's own pg_dump: pg_dump --format=custom --file=posthorn.dump with the address of DATABASE_URL.",
      );
    },
    async [Symbol.asyncDispose]() {
      await between[Symbol.asyncDispose]();
      await connections[Symbol.asyncDispose]();
    },
  };
}
