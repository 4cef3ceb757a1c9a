import type { Kysely } from "kysely";
import { systemClock } from "../../src/app/system-clock.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { Reader, Store } from "../../src/store/engine/store.ts";
import { openConnections } from "../../src/store/postgres/connect/connections.ts";
import {
  createLiveness,
  type BetweenProcesses,
  type LivenessOptions,
} from "../../src/store/postgres/liveness.ts";
import { queryOf } from "./handles.ts";

export interface Worker extends BetweenProcesses {
  readonly reader: Reader;
  readonly query: Kysely<Tables>;
  readonly write: Store["write"];
}

/** A process's half of the database: its pool, and the heartbeat connection by which others see that it lives. */
export async function openWorker(
  url: string,
  { directUrl, ...options }: Partial<LivenessOptions> & { readonly directUrl?: string } = {},
): Promise<Worker> {
  const connections = await openConnections({ url, directUrl });
  const between = await createLiveness(connections, {
    connect: connections.connect,
    clock: systemClock,
    ...options,
  });
  return {
    ...between,
    reader: connections,
    query: queryOf(connections),
    write: connections.write,
    async [Symbol.asyncDispose]() {
      await between[Symbol.asyncDispose]();
      await connections[Symbol.asyncDispose]();
    },
  };
}
