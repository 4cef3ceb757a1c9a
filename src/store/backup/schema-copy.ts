import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { reasonOf, UNFINISHED } from "./durable.ts";
import { openSqlite, sqliteCode } from "../sqlite/driver.ts";

/** So that a second update does not take the way back from the first. */
const KEPT = 2;

/**
 * Copies the database as it is before a newer schema, which older programs do not read, and removes all but
 * the newest copies. To be called under the write lock of another connection, so that nothing is written
 * between the copy and the change. Answers the copy's path. Throws `unavailable` where it cannot be made.
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

/** What SQLite names of the disk, in words. */
const REASONS = [
  ["SQLITE_FULL", "the disk is full"],
  ["SQLITE_IOERR", "the disk reports an error"],
] as const;

/** For this user alone, and on the disk when this returns. */
function writeCopy(file: string, draft: string): void {
  const handle = openSync(draft, "wx", 0o600);
  try {
    const { database } = openSqlite({ file, busyTimeoutMs: 0 });
    try {
      database.prepare("VACUUM INTO ?").run([draft]);
    } finally {
      database.close();
    }
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
