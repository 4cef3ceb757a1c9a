import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { openSqlite, sqliteCode, type SqliteDatabase } from "../engine/driver.ts";
import { keepOpen, makeLocksFolder } from "./held-locks.ts";

/** Held until `release`, or until the process ends in whatever way. */
export interface FolderLock {
  release(): void;
}

/**
 * Who works on the data folder shares it; whoever replaces the database or its key has it alone. Like a
 * worker's lock it is SQLite's on a file of its own, which the kernel gives up with the process. Throws
 * `unavailable` while somebody has it alone.
 */
export function shareFolder(locks: string): FolderLock {
  const database = openLock(locks);
  try {
    database.exec("BEGIN");
    // A deferred transaction takes its shared lock with the first read.
    database.prepare("SELECT count(*) FROM sqlite_master").get([]);
    return { release: keepOpen(database) };
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new AppError(
      "unavailable",
      "The data folder is being restored, or its secret key is being replaced. Wait until that has ended, then start again.",
      { cause: error },
    );
  }
}

/** Throws `conflict` while any process works on the folder: a server, an agent's session, a command. */
export function takeFolder(locks: string): FolderLock {
  const database = openLock(locks);
  try {
    database.exec("BEGIN EXCLUSIVE");
    return { release: keepOpen(database) };
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new AppError(
      "conflict",
      "Posthorn is at work on this data folder: a server (posthorn serve), an agent's session (posthorn stdio) or another command. Stop it, then try again.",
      { cause: error },
    );
  }
}

function openLock(locks: string): SqliteDatabase {
  makeLocksFolder(locks);
  return openSqlite({ file: join(locks, "folder.lock"), busyTimeoutMs: 0 }).database;
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_BUSY") === true;
}
