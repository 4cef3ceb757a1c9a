import { HANDLE, type Store } from "../engine/store.ts";
import { createClaims } from "../queries/publishing/claims.ts";
import { createLedger } from "../queries/publishing/ledger.ts";
import { createSearch } from "../queries/search/post-pages.ts";
import { queue } from "./claims.ts";
import { assertNotLost, refusingWhenLost, watchDatabaseFile } from "./database-file.ts";
import { checkpoint, explained, openDatabase, type OpenOptions } from "./database.ts";
import { createFileLiveness, makeLocksFolder } from "./locks.ts";
import { postIndex } from "./post-index.ts";
import { createWriteQueue } from "./write-queue.ts";

export interface StoreOptions extends OpenOptions {
  /** A file that is there once the database holds something. */
  readonly usedMark?: string;
  /**
   * The folder of locks, by which workers see whether others live. It is made where it is missing. The store is
   * lost when it is removed. Default: none.
   */
  readonly locks?: string;
}

/** Throws `unavailable` where `usedMark` is there and the database is missing or empty. */
export async function openSqliteStore({ usedMark, locks, ...options }: StoreOptions): Promise<Store> {
  if (usedMark !== undefined) assertNotLost(options.file, usedMark);
  const losing = new AbortController();
  const database = openDatabase({
    ...options,
    around: (connection) => refusingWhenLost(options.around?.(connection) ?? connection, losing.signal),
  });
  if (locks !== undefined) makeLocksFolder(locks);
  const file = watchDatabaseFile(options.file, losing, locks);
  const { query, raw } = database;
  const handle = { query, raw, index: postIndex };
  const writes = createWriteQueue(handle);
  const write: Store["write"] = async (work) => {
    try {
      const result = await writes.write(work);
      // A commit to a file that was deleted or replaced is not kept.
      if (!file.isPresent()) throw file.lost.reason;
      return result;
    } catch (error) {
      throw explained(error);
    }
  };
  const base = { [HANDLE]: handle, write };
  return {
    ...base,
    writeTrouble: writes.writeTrouble,
    engine: database.driver,
    lost: file.lost,
    isPresent: () => file.isPresent(),
    claims: createClaims(base, queue),
    ledger: createLedger(base),
    liveness: createFileLiveness(base, locks),
    // Other processes are on this machine and look each second.
    wake: { tell() {}, listen: () => () => {} },
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
