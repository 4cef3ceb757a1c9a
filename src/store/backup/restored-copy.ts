import { openSqlite, type SqliteDatabase } from "../sqlite/driver.ts";
import { readRaw } from "../sqlite/driver.ts";
import type { Reader } from "../engine/store.ts";

/**
 * How many posts a database file holds that nobody works on; 0 for one without tables, null where it cannot
 * be told.
 */
export function countPostsIn(file: string): number | null {
  try {
    return withFile(file, (database) => {
      const table = database
        .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'posts'")
        .get([]);
      return table === undefined ? 0 : count(database);
    });
  } catch {
    return null;
  }
}

export function countPosts(reader: Reader): Promise<number> {
  return readRaw(reader, count);
}

function count(database: SqliteDatabase): number {
  return (database.prepare("SELECT count(*) AS count FROM posts").get([]) as { count: number }).count;
}

/** Whether the pages of the database fit together. */
export function isSound(reader: Reader): Promise<boolean> {
  return readRaw(reader, (raw) => {
    const [first] = raw.prepare("PRAGMA integrity_check(1)").all([]) as { integrity_check: string }[];
    return first?.integrity_check === "ok";
  });
}

const FOLD_LOG = "PRAGMA wal_checkpoint(TRUNCATE)";

/** Brings everything into the one file, which may be moved then. */
export function foldLog(reader: Reader): Promise<void> {
  return readRaw(reader, (raw) => raw.exec(FOLD_LOG));
}

/**
 * The same for a file that nobody works on, which removes its journal. One that is damaged stays as it is.
 */
export function foldLogOf(file: string): void {
  try {
    withFile(file, (database) => database.exec(FOLD_LOG));
  } catch {
    // It could not be opened: there is nothing to bring in.
  }
}

function withFile<T>(file: string, work: (database: SqliteDatabase) => T): T {
  const { database } = openSqlite({ file, busyTimeoutMs: 0 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
