import { existsSync, statSync, type BigIntStats } from "node:fs";
import { basename } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { SqliteDatabase } from "../local/driver.ts";

/**
 * Watches the file of the open database. A file that is deleted or replaced stays open: every write succeeds,
 * and all of it is missing at the next start.
 */
export interface DatabaseFile {
  /** Aborted, with an AppError (`unavailable`) as its reason, once the file is gone. */
  readonly lost: AbortSignal;
  /** Looks now. `lost` is aborted before it returns false. Costs microseconds, once a turn of the event loop. */
  isPresent(): boolean;
  unwatch(): void;
}

/** Makes every statement fail once the file is lost. Only closing works. */
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
 * Compares device and inode of the open database, its log and the log's index with the files of these names,
 * each second. Also of the folder of locks: without it other processes take this one for dead.
 */
export function watchDatabaseFile(
  file: string,
  losing: AbortController,
  locks: string | null = null,
): DatabaseFile {
  const lost = losing.signal;
  if (file === ":memory:") return { lost, isPresent: () => true, unwatch: () => {} };
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
    setImmediate(() => (isFresh = false));
    return !lost.aborted;
  };
  const timer = setInterval(isPresent, SECOND).unref();
  return { lost, isPresent, unwatch: () => clearInterval(timer) };
}

type Look = BigIntStats | "unknown" | null;

/** Null only where the system says that nothing is there. A disk with errors proves nothing. */
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
 * Throws `unavailable` where `usedMark` (a file that is written once the database holds something) is there, and
 * the database is missing or empty. A new one would be made in its place, and hide that all posts are gone.
 */
export function assertNotLost(file: string, usedMark: string): void {
  // The mark first: another process's first start writes the database before the mark.
  if (!existsSync(usedMark)) return;
  const found = look(file);
  if (found === "unknown" || (found !== null && found.size > 0n)) return;
  throw new AppError(
    "unavailable",
    `The database ${file} ${found === null ? "is missing" : "is empty (0 bytes)"}, but this data folder was used before. Put it back, or restore a backup with: posthorn restore FILE. To begin anew without its posts and channels, remove ${usedMark}, then start again.`,
  );
}
