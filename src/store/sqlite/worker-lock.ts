import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { openSqlite, sqliteCode, type SqliteDatabase } from "../engine/driver.ts";
import { keepOpen, makeLocksFolder } from "./held-locks.ts";

/** Proof of life between the processes on one data folder. */
export interface WorkerLocks {
  /** Held until `release`, or until the process ends in whatever way. */
  hold(workerId: string): { release(): void };
  /** False only when it is certain that the worker's process is gone. */
  isAlive(workerId: string): boolean;
}

/**
 * A worker holds SQLite's exclusive lock on a file of its own for as long as it lives. The kernel gives the
 * lock up when the process dies, whatever killed it, and never while it is merely stopped or slow; so, unlike
 * a process id, a host name or a heartbeat, it cannot be mistaken across restarts, reused ids or containers
 * that share the folder.
 */
export function createWorkerLocks(folder: string): WorkerLocks {
  const fileOf = (workerId: string): string => join(folder, `${workerId}.lock`);
  makeLocksFolder(folder);
  return {
    hold(workerId) {
      const database = lock(fileOf(workerId));
      if (database === null) throw new Error(`The lock of worker ${workerId} is taken.`);
      const close = keepOpen(database);
      return {
        release: () => {
          close();
          rmSync(fileOf(workerId), { force: true });
        },
      };
    },
    isAlive(workerId) {
      if (!readdirSync(folder).includes(`${workerId}.lock`)) return false;
      const database = lock(fileOf(workerId));
      if (database === null) return true;
      database.close();
      rmSync(fileOf(workerId), { force: true });
      return false;
    },
  };
}

/**
 * The database with its exclusive lock taken, or null when another process has it. SQLite writes a journal
 * for it; without one (`needsDisk` false) it is taken on a full disk too.
 */
export function lock(file: string, { needsDisk } = { needsDisk: true }): SqliteDatabase | null {
  const { database } = openSqlite({ file, busyTimeoutMs: 0 });
  try {
    if (!needsDisk) database.exec("PRAGMA journal_mode = MEMORY");
    // Not WAL: its locks are shared. The transaction stays open; nothing is ever written.
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    const code = sqliteCode(error);
    if (code !== null && code.startsWith("SQLITE_BUSY")) return null;
    if (code !== null && code.startsWith("SQLITE_FULL")) {
      throw new AppError(
        "unavailable",
        "The disk of the data folder is full. Free some space, then start again.",
        { cause: error },
      );
    }
    throw error;
  }
}
