import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { openSqlite, sqliteCode, type SqliteDatabase } from "../local/driver.ts";
import { reasonOf, UNFINISHED } from "./durable.ts";

/* Files of databases on which no process works: copies before a newer schema, backups, restored ones. */

function withFile<T>(file: string, work: (database: SqliteDatabase) => T): T {
  const { database } = openSqlite({ file, busyTimeoutMs: 0 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** How many older databases are kept: a second update leaves the way back from the first. */
const KEPT = 2;

/**
 * Copies the database before it is brought to a newer schema, which older programs do not read. Removes all but
 * the newest copies. Returns the copy's path. Call it under the write lock of another connection, so that
 * nothing is written between the copy and the change. Throws `unavailable` where it cannot be made.
 */
export function keepSchemaCopy(file: string, { version, now }: { version: number; now: number }): string {
  const stamp = toIso(now).slice(0, 19).replaceAll(":", "");
  const copy = `${file}.schema-${version}-${stamp}`;
  const draft = join(dirname(file), UNFINISHED + randomUUID());
  try {
    writeCopy(file, draft);
    renameSync(draft, copy);
  } catch (cause) {
    rmSync(draft, { force: true });
    const code = sqliteCode(cause) ?? "";
    const reason = REASONS.find(([beginning]) => code.startsWith(beginning))?.[1] ?? reasonOf(cause);
    throw new AppError(
      "unavailable",
      `The database needs a newer schema, and the copy that is kept of it before cannot be written to ${dirname(file)}: ${reason}. Nothing was changed. Make room for a second database there, then start again.`,
      { cause },
    );
  }
  for (const old of listCopies(file).slice(KEPT)) rmSync(join(dirname(file), old), { force: true });
  return copy;
}

const REASONS = [
  ["SQLITE_FULL", "the disk is full"],
  ["SQLITE_IOERR", "the disk reports an error"],
] as const;

/** Only for this user, and on the disk when this returns. */
export function writeCopy(file: string, draft: string): void {
  const handle = openSync(draft, "wx", 0o600);
  try {
    withFile(file, (database) => database.prepare("VACUUM INTO ?").run([draft]));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The newest first, by the time in their names. */
function listCopies(file: string): readonly string[] {
  const beginning = `${basename(file)}.schema-`;
  const timeOf = (name: string): string => name.slice(beginning.length).replace(/^\d+-/, "");
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(beginning))
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

interface Media {
  readonly key: string;
}

/** The keys of all files in the file store that the database refers to, each once. */
export function listStoredKeys(file: string): string[] {
  return withFile(file, (database) => {
    const files = database
      .prepare("SELECT storage_key AS key FROM files WHERE status = 'ready' ORDER BY storage_key")
      .all([]) as Media[];
    const items = database.prepare("SELECT item FROM feed_items").all([]) as { item: string }[];
    const shown = items.flatMap(({ item }) => {
      const { media, thumbnail } = JSON.parse(item) as { media: Media[]; thumbnail: Media | null };
      return thumbnail === null ? media : [...media, thumbnail];
    });
    return [...new Set([...files, ...shown].map(({ key }) => key))];
  });
}

/** How many posts the file holds. 0 for one without tables, null for one that cannot be read. */
export function countPostsIn(file: string): number | null {
  const tables = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'posts'";
  const posts = "SELECT count(*) AS count FROM posts";
  try {
    return withFile(file, (database) =>
      database.prepare(tables).get([]) === undefined
        ? 0
        : (database.prepare(posts).get([]) as { count: number }).count,
    );
  } catch {
    return null;
  }
}

/** Brings the log into the database's file, which may then be moved. A damaged one stays as it is. */
export function foldLog(file: string): void {
  try {
    withFile(file, (database) => database.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  } catch {
    // It cannot be opened, so there is nothing to bring in.
  }
}
