import { checkpoint, explained, openDatabase, type OpenOptions } from "./sqlite/database.ts";
import { assertNotLost, refusingWhenLost, watchDatabaseFile } from "./sqlite/database-file.ts";
import { makeLocksFolder } from "./sqlite/held-locks.ts";
import { HANDLE, type Store } from "./engine/store.ts";
import { createWriteQueue } from "./sqlite/write-queue.ts";
import { createClaims } from "./publishing/claims.ts";
import { createSearch } from "./search/post-pages.ts";
import { textIndex } from "./search/text-index.ts";
import { createLedger } from "./publishing/ledger.ts";
import { createFileLiveness, NO_WAKE } from "./publishing/file-liveness.ts";
import type { PostgresStoreOptions } from "./postgres/postgres-store.ts";

/** What is the matter with the disk or the file, as an AppError; anything else as it is. */
export { explained } from "./sqlite/database.ts";

export interface StoreOptions extends OpenOptions {
  readonly usedMark?: string;
  /**
   * The folder of locks, made where it is missing: the store is lost with it, and by its locks workers see
   * whether others live. Default: there is none.
   */
  readonly locks?: string;
}

/**
 * Opens the store: with `url` on a PostgreSQL, whose driver nobody else loads; else on a SQLite file, or in
 * memory for ":memory:". Throws `unavailable` with one sentence where it cannot.
 */
export async function openStore(options: StoreOptions | PostgresStoreOptions): Promise<Store> {
  if ("file" in options) return await openSqliteStore(options);
  const { openPostgresStore } = await import("./postgres/postgres-store.ts");
  return await openPostgresStore(options);
}

/** Refused where `usedMark`, a file that is there once the database holds something, is and the database is not. */
async function openSqliteStore({ usedMark, locks, ...options }: StoreOptions): Promise<Store> {
  if (usedMark !== undefined) assertNotLost(options.file, usedMark);
  const losing = new AbortController();
  const database = openDatabase({
    ...options,
    around: (connection) => refusingWhenLost(options.around?.(connection) ?? connection, losing.signal),
  });
  if (locks !== undefined) makeLocksFolder(locks);
  const file = watchDatabaseFile(options.file, losing, locks);
  const { query, raw } = database;
  const handle = { engine: "sqlite", query, raw, index: textIndex } as const;
  const queue = createWriteQueue(handle);
  const write: Store["write"] = async (work) => {
    try {
      const result = await queue.write(work);
      // What was committed to a file that nobody finds any more is not kept.
      if (!file.isPresent()) throw file.lost.reason;
      return result;
    } catch (error) {
      throw explained(error);
    }
  };
  const base = { [HANDLE]: handle, write };
  return {
    ...base,
    writeTrouble: queue.writeTrouble,
    engine: database.driver,
    lost: file.lost,
    isPresent: () => file.isPresent(),
    claims: createClaims(base),
    ledger: createLedger(base),
    liveness: createFileLiveness(base, locks),
    wake: NO_WAKE,
    search: createSearch(base),
    isShared: false,
    tidy: () => checkpoint(database),
    copyTo: (file) => query.connection().execute(async () => void raw.prepare("VACUUM INTO ?").run([file])),
    [Symbol.asyncDispose]: () => {
      file.unwatch();
      return database[Symbol.asyncDispose]();
    },
  };
}
