import { inspect } from "node:util";
import { inject } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import {
  openConnections,
  type Connections,
  type ConnectionOptions,
} from "../../src/store/postgres/connect/connections.ts";
import {
  createDatabaseOn,
  type NewDatabase,
  type PostgresAddress,
  type TestDatabase,
} from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly postgres: PostgresAddress;
  }
}

/** A database of its own on the server of this test run; see `createDatabaseOn`. */
export function createDatabase(options?: NewDatabase): Promise<TestDatabase> {
  return createDatabaseOn(inject("postgres"), options);
}

/** The server of this test run. */
export function serverAddress(): PostgresAddress {
  return inject("postgres");
}

/** Connections to a database of a test, without what works on posts. */
export function openTestConnections(
  url: string,
  options: Omit<ConnectionOptions, "url"> = {},
): Promise<Connections> {
  return openConnections({ url, ...options });
}

/** What an opening says that fails. */
export async function refusalOf(
  url: string,
  options: Omit<ConnectionOptions, "url"> = {},
): Promise<AppError> {
  const error: unknown = await openTestConnections(url, options).then(
    async (connections) => {
      await connections[Symbol.asyncDispose]();
      return null;
    },
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw new Error(`Not refused: ${String(error)}`, { cause: error });
  // Neither the sentence nor anything that a log would show of it.
  if (inspect(error, { depth: 10 }).includes("s3cret")) throw new Error("The password is shown.");
  return error;
}
