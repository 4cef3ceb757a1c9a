import { AppError } from "../../domain/errors.ts";
import type { Claims } from "../engine/claims.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { Liveness } from "../engine/liveness.ts";
import type { Search } from "../engine/search.ts";
import type { PostIndex, Store } from "../engine/store.ts";
import { createCounts } from "./counts.ts";
import { openConnections, type Connections, type PostgresOptions } from "./connect/connections.ts";

/** What is done in PostgreSQL's own words, each made over the connections that it works on. */
export interface PostgresParts {
  readonly index: PostIndex;
  readonly createClaims: (connections: Connections) => Claims;
  readonly createLedger: (connections: Connections) => Ledger;
  readonly createSearch: (connections: Connections) => Search;
  readonly createLiveness: (connections: Connections) => Liveness;
}

/** Opens the store on a PostgreSQL; the errors are those of `openConnections`. */
export async function openPostgresStore(options: PostgresOptions, parts: PostgresParts): Promise<Store> {
  const connections = await openConnections(options, parts.index);
  const { application, publisher, lost } = connections;
  const counts = createCounts(application);
  return {
    ...application,
    writeTrouble: () => application.writeTrouble() ?? publisher.writeTrouble(),
    engine: "PostgreSQL",
    lost,
    isPresent: () => !lost.aborted,
    claims: parts.createClaims(connections),
    ledger: parts.createLedger(connections),
    search: parts.createSearch(connections),
    liveness: parts.createLiveness(connections),
    counts,
    // Autovacuum does.
    tidy: async () => {},
    copyTo: async () => {
      throw new AppError(
        "conflict",
        "A database on PostgreSQL is copied by PostgreSQL's own pg_dump: pg_dump --format=custom --file=posthorn.dump with the address of DATABASE_URL.",
      );
    },
    async [Symbol.asyncDispose]() {
      await counts[Symbol.asyncDispose]();
      await connections[Symbol.asyncDispose]();
    },
  };
}
