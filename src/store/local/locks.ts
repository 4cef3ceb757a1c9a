import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Liveness, Reader } from "../engine/engine.ts";
import { listWorkersBeside } from "../queries/workers.ts";
import { openSqlite, sqliteCode, type SqliteDatabase } from "./driver.ts";

/*
 * Locks between the processes on one data folder. They are SQLite's locks on files of their own, which the kernel
 * releases when a process ends in whatever way.
 */

/**
 * Makes the folder of locks. Its parent must be there, so that this does not bring a deleted data folder back.
 * Throws `unavailable` where something else has its name.
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

type LockKind = "exclusive" | "shared";

const HELD = new Set<SqliteDatabase>();

/**
 * Keeps a handle and its lock open until the function that it returns is called. The garbage collector closes
 * a handle without references.
 */
function keepOpen(database: SqliteDatabase): () => void {
  HELD.add(database);
  return () => {
    HELD.delete(database);
    database.close();
  };
}

/**
 * Opens the file and takes its exclusive lock, or with "shared" a shared one. Null while another process has a
 * lock that stands against it. The transaction stays open, and nothing is ever written. Not in WAL mode, whose
 * locks are always shared.
 */
function takeLock(file: string, kind: LockKind = "exclusive", busyTimeoutMs = 0): SqliteDatabase | null {
  const { database } = openSqlite({ file, busyTimeoutMs });
  try {
    database.exec(kind === "shared" ? "BEGIN" : "BEGIN EXCLUSIVE");
    // A deferred transaction takes its shared lock with the first read.
    if (kind === "shared") database.prepare("SELECT count(*) FROM sqlite_master").get([]);
    return database;
  } catch (error) {
    database.close();
    const code = sqliteCode(error) ?? "";
    if (code.startsWith("SQLITE_BUSY")) return null;
    if (!code.startsWith("SQLITE_FULL")) throw error;
    throw new AppError(
      "unavailable",
      "The disk of the data folder is full. Free some space, then start again.",
      { cause: error },
    );
  }
}

/** Null while another process, or another part of this one, has it. The file is made where there is none. */
export function takeFileLock(file: string): FileLock | null {
  const database = takeLock(file);
  return database === null ? null : { release: keepOpen(database) };
}

/** A lock, which is also released when the process ends in whatever way. */
export interface FileLock {
  release(): void;
}

/**
 * Locks by which the processes on one data folder see whether a worker lives. A worker holds the exclusive lock on a
 * file of its own. The kernel releases it when the process dies, whatever killed it, and never while it is only
 * stopped or slow. Process ids, host names and heartbeats can be mistaken across restarts, reused ids, and containers
 * that share the folder. A lock cannot.
 */
export function createWorkerLocks(folder: string) {
  const fileOf = (workerId: string): string => join(folder, `${workerId}.lock`);
  makeLocksFolder(folder);
  return {
    hold(workerId: string): FileLock {
      const file = fileOf(workerId);
      const database = takeLock(file);
      if (database === null) throw new Error(`The lock of worker ${workerId} is taken.`);
      const close = keepOpen(database);
      return {
        release: () => {
          close();
          rmSync(file, { force: true });
        },
      };
    },
    /** False only when it is certain that the worker's process has ended. */
    isAlive(workerId: string): boolean {
      if (!readdirSync(folder).includes(`${workerId}.lock`)) return false;
      const database = takeLock(fileOf(workerId));
      if (database === null) return true;
      database.close();
      rmSync(fileOf(workerId), { force: true });
      return false;
    },
  };
}

/** All workers are on one machine. Without a folder of locks none is ever proven dead. */
export function createFileLiveness(reader: Reader, folder: string | undefined): Liveness {
  const locks = folder === undefined ? null : createWorkerLocks(folder);
  return {
    clock: null,
    async hold(workerId) {
      const lock = locks?.hold(workerId);
      return { release: async () => lock?.release() };
    },
    check() {},
    hasEnded: ({ id }) => locks?.isAlive(id) === false,
    async listDead(besides) {
      if (locks === null) return [];
      return (await listWorkersBeside(reader, besides)).filter((id) => !locks.isAlive(id));
    },
  };
}

/**
 * A process that works on the data folder shares it. One that replaces the database or its key takes it for
 * itself. Throws `unavailable` while another process has taken it.
 */
export function shareFolder(locks: string): FileLock {
  // Another start takes the folder for a moment, to see whether it is in use.
  const database = takeFolderLock(locks, "shared", SECOND);
  if (database !== null) return { release: keepOpen(database) };
  throw new AppError(
    "unavailable",
    "The data folder is being restored, or its secret key is being replaced. Wait until that has ended, then start again.",
  );
}

/** Throws `conflict` while any process works on the folder: a server, an agent's session, a command. */
export function takeFolder(locks: string): FileLock {
  const database = takeFolderLock(locks);
  if (database !== null) return { release: keepOpen(database) };
  throw new AppError(
    "conflict",
    "Posthorn is at work on this data folder: a server (posthorn serve), an agent's session (posthorn stdio) or another command. Stop it, then try again.",
  );
}

/** Whether no process works on the folder at this moment. */
export function isUnused(locks: string): boolean {
  const database = takeFolderLock(locks);
  database?.close();
  return database !== null;
}

function takeFolderLock(
  locks: string,
  kind: LockKind = "exclusive",
  busyTimeoutMs = 0,
): SqliteDatabase | null {
  makeLocksFolder(locks);
  return takeLock(join(locks, "folder.lock"), kind, busyTimeoutMs);
}
