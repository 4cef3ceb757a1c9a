import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import { openSqlite, sqliteCode, type SqliteDatabase } from "./driver.ts";

/*
 * Locks between the processes on one data folder: SQLite's, on files of their own, which the kernel gives up when a
 * process ends in whatever way.
 */

/**
 * Makes the folder of locks. Its parent must be there: a data folder that was deleted must not come back by
 * that. Throws `unavailable` where something else has its name.
 */
export function makeLocksFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if (codeOf(cause) === "EEXIST" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      return;
    const reason =
      codeOf(cause) === "EEXIST"
        ? "Posthorn keeps its locks in a folder of this name, and something else has it. Move that away"
        : "the folder of the locks cannot be made there. Check that the data folder is there and can be written";
    throw new AppError("unavailable", `${path}: ${reason}, then start again.`, { cause });
  }
}

/** A lock ends with its handle, and the garbage collector closes a handle that nothing refers to any more. */
const HELD = new Set<SqliteDatabase>();

/**
 * Keeps a handle with its lock open until the function that it answers is called, whoever has forgotten it.
 */
function keepOpen(database: SqliteDatabase): () => void {
  HELD.add(database);
  return () => {
    HELD.delete(database);
    database.close();
  };
}

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

/** The database with its exclusive lock taken, or null when another process has it. */
function lock(file: string): SqliteDatabase | null {
  const { database } = openSqlite({ file, busyTimeoutMs: 0 });
  try {
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
  // Another start may have it alone for a moment, to see whether it is used.
  const database = openLock(locks, SECOND);
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

/** Whether no process works on the folder at this moment. */
export function isUnused(locks: string): boolean {
  try {
    takeFolder(locks).release();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.kind === "conflict") return false;
    throw error;
  }
}

function openLock(locks: string, busyTimeoutMs = 0): SqliteDatabase {
  makeLocksFolder(locks);
  return openSqlite({ file: join(locks, "folder.lock"), busyTimeoutMs }).database;
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_BUSY") === true;
}
