import { inject } from "vitest";
import { createDatabaseOn, type PostgresAddress, type TestDatabase } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly postgres: PostgresAddress;
  }
}

/** A database of its own on the server of this test run; see `createDatabaseOn`. */
export function createDatabase(options?: { readonly isEmpty?: boolean }): Promise<TestDatabase> {
  return createDatabaseOn(inject("postgres"), options);
}
