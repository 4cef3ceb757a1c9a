import { existsSync, statSync, type BigIntStats } from "node:fs";
import { basename } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { SqliteDatabase } from "./driver.ts";

/**
 * What lies below the open database. A file that is deleted or replaced stays open: SQLite goes on with it,
 * every write succeeds, and nothing of it is there at the next start.
 */
export interface DatabaseFile {
  /** Aborted, with an AppError (`unavailable`) as its reason, once the file is not there any more. */
  readonly lost: AbortSignal;
  /**
   * Looks now; `lost` is aborted before it answers false. Costs some microseconds, once a turn of the event
   * loop.
   */
  isPresent(): boolean;
  unwatch(): void;
}

/** What nobody writes to any more answers nothing either: all but closing fails. */
export function refusingWhenLost(connection: SqliteDatabase, lost: AbortSignal): SqliteDatabase {
  return {
    ...connection,
    prepare(source) {
      lost.throwIfAborted();
      return connection.prepare(source);
    },
    exec(source) {
      lost.throwIfAborted();
      connection.exec(source);
    },
  };
}

/**
 * Compares device and inode of an open database, its log and its index with what the names lead to, each
 * second; those of the folder of locks too. Without it other processes take this one for dead.
 */
export function watchDatabaseFile(
  file: string,
  losing: AbortController,
  locks: string | null = null,
): DatabaseFile {
  const lost = losing.signal;
  if (file === ":memory:") return { lost, isPresent: () => true, unwatch: () => {} };
  // The log and its index are there while anybody has the database open, and keep their inodes.
  const names = ["", "-wal", "-shm"].map((end) => file + end);
  const watched = [...names, ...(locks === null ? [] : [locks])].flatMap((name) => {
    const opened = look(name);
    return opened === "unknown" || opened === null ? [] : [{ name, opened }];
  });
  let isFresh = false;
  const isPresent = (): boolean => {
    if (isFresh || lost.aborted) return !lost.aborted;
    for (const { name, opened } of watched) {
      const what = changeOf(opened, look(name), name === file);
      if (what !== null)
        losing.abort(name === locks ? lostLocks(what) : lostError(`${basename(name)} was ${what}`));
    }
    isFresh = true;
    setImmediate(() => {
      isFresh = false;
    });
    return !lost.aborted;
  };
  const timer = setInterval(isPresent, SECOND).unref();
  return { lost, isPresent, unwatch: () => clearInterval(timer) };
}

type Look = BigIntStats | "unknown" | null;

/** Null only where the system says that nothing is there: a disk that reports errors tells nothing. */
function look(name: string): Look {
  try {
    return statSync(name, { bigint: true });
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(codeOf(error)) ? null : "unknown";
  }
}

function changeOf(opened: BigIntStats, now: Look, isMain: boolean): string | null {
  if (now === "unknown") return null;
  if (now === null) return "deleted";
  if (now.ino !== opened.ino || now.dev !== opened.dev) return "replaced";
  return isMain && now.size === 0n ? "emptied" : null;
}

function lostError(what: string): AppError {
  return new AppError(
    "unavailable",
    `The database is gone: ${what} while Posthorn had it open, so nothing can be read or kept. Put it back or restore a backup (posthorn restore), then start Posthorn again.`,
  );
}

function lostLocks(what: string): AppError {
  return new AppError(
    "unavailable",
    `The data folder was damaged: the folder of its locks was ${what} while Posthorn worked there, so other processes take this one for dead. The database is still there: start Posthorn again.`,
  );
}

/**
 * Throws `unavailable` where `usedMark`, a file that is written once the database holds something, is there
 * and the database is missing or empty: a new one would be made in its place, and nobody would hear that all
 * posts are gone.
 */
export function assertNotLost(file: string, usedMark: string): void {
  // In this order: whoever starts for the first time at this moment writes the database before the mark.
  if (!existsSync(usedMark)) return;
  const found = look(file);
  if (found === "unknown" || (found !== null && found.size > 0n)) return;
  throw new AppError(
    "unavailable",
    `The database ${file} ${found === null ? "is missing" : "is empty (0 bytes)"}, but this data folder was used before. Put it back, or restore a backup with: posthorn restore FILE. To begin anew without its posts and channels, remove ${usedMark}, then start again.`,
  );
}
