import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/app/system-clock.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/store/local/driver.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { testEngine } from "../../support/context.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/*
 * What the suite of this folder asks of an engine's side. For one more engine write its place, and run the folder
 * with it (`POSTHORN_TEST_ENGINE`).
 */

/** Where one database is. It goes with the test. */
export interface Place extends AsyncDisposable {
  /** What `openStore` takes besides the clock, for processes that are started. */
  readonly options: PlaceOptions;
  /** As one more process opens it. Each is closed by who opened it. */
  open(): Promise<Store>;
  /** While no store is open. */
  readVersion(): Promise<number>;
  setVersion(version: number): Promise<void>;
  /** Puts another database in its place, under whoever has it open. */
  replace(): Promise<void>;
}

export type PlaceOptions = { readonly file: string; readonly locks: string } | { readonly url: string };

/** Of a database that is not made yet. */
export function openPlace(): Promise<Place> {
  return { sqlite: openOnSqlite, postgres: openOnPostgres }[testEngine]();
}

const VERSION = "PRAGMA user_version";

async function openOnSqlite(): Promise<Place> {
  const folder = temporaryFolder();
  const file = join(folder.path, "posthorn.db");
  const options = { file, locks: join(folder.path, "locks") };
  const inRaw = <T>(work: (database: SqliteDatabase) => T): T => {
    const { database } = openSqlite({ file, busyTimeoutMs: 0 });
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    options,
    open: () => openStore(options),
    readVersion: async () =>
      inRaw((database) => (database.prepare(VERSION).get([]) as { user_version: number }).user_version),
    setVersion: async (version) => inRaw((database) => database.exec(`${VERSION} = ${version}`)),
    replace: async () => {
      rmSync(file);
      writeFileSync(file, "another");
    },
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  };
}

async function openOnPostgres(): Promise<Place> {
  // They need Vitest and a server, which processes that are started do without.
  const { createDatabase, serverAddress } = await import("../../support/postgres.ts");
  const { administer, askDatabase } = await import("../../support/postgres-server.ts");
  const database = await createDatabase({ isEmpty: true });
  const options = { url: database.url };
  return {
    options,
    open: () => openStore({ ...options, clock: systemClock }),
    readVersion: async () =>
      (await askDatabase<{ version: number }>(database.url, "SELECT version FROM schema_version"))!.version,
    setVersion: async (version) =>
      void (await askDatabase(database.url, `UPDATE schema_version SET version = ${version}`)),
    replace: async () => {
      await administer(serverAddress(), `DROP DATABASE ${database.name} WITH (FORCE)`);
      await administer(serverAddress(), `CREATE DATABASE ${database.name} TEMPLATE posthorn_template`);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
