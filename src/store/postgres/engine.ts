import { rowOf } from "../engine/statements.ts";
import { ON_SERVER } from "../engine/capabilities.ts";
import type { Engine } from "../engine/engine.ts";
import { findDue } from "./claims.ts";
import { openConnections, type ConnectionOptions } from "./connect/connections.ts";
import { createLiveness, proveDeath, type LivenessOptions } from "./liveness.ts";

export type PostgresOptions = ConnectionOptions & Omit<LivenessOptions, "connect">;

/** Throws what `openConnections` throws. */
export async function openPostgresEngine(options: PostgresOptions): Promise<Engine> {
  const { clock, times, leases, ...address } = options;
  const { connect, ...connections } = await openConnections(address);
  const { liveness, wake, ...heartbeat } = await createLiveness(connections, {
    connect,
    clock,
    times,
    leases,
  });
  return {
    ...connections,
    name: "PostgreSQL",
    capabilities: ON_SERVER,
    isPresent: () => !connections.lost.aborted,
    queue: { findDue, death: (tx, workerId) => proveDeath(tx, workerId, leases) },
    liveness,
    wake,
    file: null,
    // Autovacuum does it.
    tidy: async () => {},
    continueNumbers: async (tx) => void (await rowOf(tx, CONTINUE_NUMBERS)),
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]();
      await connections[Symbol.asyncDispose]();
    },
  };
}

const CONTINUE_NUMBERS = `SELECT setval(pg_get_serial_sequence('webhook_deliveries', 'seq'),
  (SELECT coalesce(max(seq), 0) + 1 FROM webhook_deliveries), false)`;
