import { sql } from "kysely";
import { IN_FOLDER } from "../engine/capabilities.ts";
import { HANDLE, type DatabaseFile, type Engine } from "../engine/engine.ts";
import { createFileLiveness, makeLocksFolder } from "../local/locks.ts";
import { explained } from "../local/sentences.ts";
import { queue } from "./claims.ts";
import { assertNotLost, refusingWhenLost, watchDatabaseFile } from "./database-file.ts";
import { checkpoint, openDatabase, type Database, type OpenOptions } from "./database.ts";
import { postIndex } from "./post-index.ts";
import { createWriteQueue, type SqliteHandle } from "./write-queue.ts";

export interface SqliteOptions extends OpenOptions {
  /** A file that is there once the database holds something. */
  readonly usedMark?: string;
  /**
   * The folder of locks, by which workers see whether others live. It is made where it is missing. The store is
   * lost when it is removed. Default: none.
   */
  readonly locks?: string;
}

/** Throws `unavailable` where `usedMark` is there and the database is missing or empty. */
export function openSqliteEngine({ usedMark, locks, ...options }: SqliteOptions): Engine {
  if (usedMark !== undefined) assertNotLost(options.file, usedMark);
  const losing = new AbortController();
  const database = openDatabase({
    ...options,
    around: (connection) => refusingWhenLost(options.around?.(connection) ?? connection, losing.signal),
  });
  if (locks !== undefined) makeLocksFolder(locks);
  const watched = watchDatabaseFile(options.file, losing, locks);
  const { query, raw } = database;
  const handle: SqliteHandle = {
    query,
    raw,
    index: postIndex,
    rowsFrom: (texts) => sql`json_each(${JSON.stringify(texts)}) AS one`,
  };
  const writes = createWriteQueue(handle);
  const write: Engine["write"] = async (work) => {
    try {
      const result = await writes.write(work);
      // A commit to a file that was deleted or replaced is not kept.
      if (!watched.isPresent()) throw watched.lost.reason;
      return result;
    } catch (error) {
      throw explained(error);
    }
  };
  return {
    [HANDLE]: handle,
    write,
    writeTrouble: writes.writeTrouble,
    name: database.driver,
    capabilities: IN_FOLDER,
    lost: watched.lost,
    isPresent: watched.isPresent,
    queue,
    liveness: createFileLiveness({ [HANDLE]: handle }, locks),
    // Other processes are on this machine and look each second.
    wake: { tell() {}, listen: () => () => {} },
    file: createFile(database),
    tidy: () => checkpoint(database),
    // The next number is the highest one and 1.
    continueNumbers: async () => {},
    [Symbol.asyncDispose]: () => {
      watched.unwatch();
      return database[Symbol.asyncDispose]();
    },
  };
}

function createFile({ query, raw }: Database): DatabaseFile {
  /** Once no transaction is under way on the connection. */
  const between = <T>(work: () => T): Promise<T> => query.connection().execute(async () => work());
  return {
    copyTo: (file) => between(() => void raw.prepare("VACUUM INTO ?").run([file])),
    isSound: () =>
      between(() => {
        const [first] = raw.prepare("PRAGMA integrity_check(1)").all([]) as { integrity_check: string }[];
        return first?.integrity_check === "ok";
      }),
    attachReplaced: (file) => between(() => void raw.prepare("ATTACH ? AS replaced").run([file])),
    fold: () => between(() => raw.exec("PRAGMA wal_checkpoint(TRUNCATE)")),
  };
}
