import { AppError } from "../../domain/errors.ts";
import { applyMigrations, MIGRATIONS } from "../sqlite/migrations/migrate.ts";
import { isSqliteError, openSqlite, type SqliteDatabase } from "../sqlite/driver.ts";

export const DAMAGED = "The database in the backup is damaged. Nothing was changed. Take another backup.";

/** A row of `sqlite_schema` that is not as our migrations make it. */
export interface Foreign {
  readonly type: string;
  readonly name: string;
}

interface SchemaRow extends Foreign {
  readonly tbl_name: string;
  readonly sql: string | null;
}

/**
 * What a database (a copy that nobody works on) has in its schema that our migrations up to its version do
 * not make, or lacks of it; null where it is the very same, or of a version that is not known here. A trigger
 * or a view of somebody else's would run with every statement of ours. Throws `invalid` where the
 * schema cannot be read.
 */
export function findForeignSchema(file: string): Foreign | null {
  try {
    return compareSchema(file);
  } catch (cause) {
    if (!isSqliteError(cause)) throw cause;
    throw new AppError("invalid", DAMAGED, { cause });
  }
}

function compareSchema(file: string): Foreign | null {
  const { database } = openSqlite({ file, busyTimeoutMs: 0 });
  try {
    // What stands in a file of which nobody knows who wrote it calls no function that is not harmless.
    database.exec("PRAGMA trusted_schema = OFF");
    const { user_version: version } = database.prepare("PRAGMA user_version").get([]) as {
      user_version: number;
    };
    if (version > MIGRATIONS.length) return null;
    return differenceOf(readSchema(database), expectedSchema(Math.max(version, 0)));
  } finally {
    database.close();
  }
}

/** By running the migrations: what they make of each other is not written down a second time. */
function expectedSchema(version: number): readonly SchemaRow[] {
  const { database } = openSqlite({ file: ":memory:", busyTimeoutMs: 0 });
  try {
    applyMigrations(database, MIGRATIONS.slice(0, version));
    return readSchema(database);
  } finally {
    database.close();
  }
}

function readSchema(database: SqliteDatabase): readonly SchemaRow[] {
  return database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema").all([]) as SchemaRow[];
}

function differenceOf(found: readonly SchemaRow[], expected: readonly SchemaRow[]): Foreign | null {
  const known = new Set(expected.map(textOf));
  const present = new Set(found.map(textOf));
  const differing =
    found.find((row) => !known.has(textOf(row))) ?? expected.find((row) => !present.has(textOf(row)));
  return differing ?? (found.length === expected.length ? null : (found[0] ?? null));
}

/** Spaces do not count: versions of SQLite differ in those that they leave when a column is added. */
function textOf({ type, name, tbl_name, sql }: SchemaRow): string {
  return JSON.stringify([type, name, tbl_name, sql?.replaceAll(/\s+/g, " ").trim() ?? null]);
}
