import type { Kysely } from "kysely";
import { systemClock } from "../../src/app/system-clock.ts";
import type { Tables } from "../../src/store/engine/schema.ts";
import type { Reader, Store } from "../../src/store/engine/store.ts";
import { openConnections } from "../../src/store/postgres/connect/connections.ts";
import {
  createLiveness,
  type BetweenProcesses,
  type LivenessOptions,
} from "../../src/store/postgres/liveness/liveness.ts";
import { queryOf } from "./handles.ts";
import { NO_INDEX } from "./postgres-store-on.ts";

export interface Worker extends BetweenProcesses {
  readonly reader: Reader;
  readonly query: Kysely<Tables>;
  readonly write: Store["write"];
}

/** A process's half of the database: its connections, and its tie by which others see that it lives. */
export async function openWorker(
  url: string,
  { directUrl, ...options }: Partial<LivenessOptions> & { readonly directUrl?: string } = {},
): Promise<Worker> {
  const connections = await openConnections({ url, directUrl }, NO_INDEX);
  const { application } = connections;
  const between = await createLiveness(application, {
    connect: connections.connect,
    clock: systemClock,
    ...options,
  });
  return {
    ...between,
    reader: application,
    query: queryOf(application),
    write: application.write,
    async [Symbol.asyncDispose]() {
      await between[Symbol.asyncDispose]();
      await connections[Symbol.asyncDispose]();
    },
  };
}
