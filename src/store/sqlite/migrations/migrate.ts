import { AppError } from "../../../domain/errors.ts";
import { rollback, type SqliteDatabase } from "../driver.ts";
import * as init from "./0001_init.ts";
import * as causes from "./0002_causes.ts";
import * as crashMarks from "./0003_suspects.ts";
import * as reach from "./0004_reach.ts";
import * as grants from "./0005_grants.ts";
import * as live from "./0006_live.ts";
import * as limits from "./0007_limits.ts";
import * as search from "./0008_search.ts";
import * as crashes from "./0009_crashes.ts";
import * as drafts from "./0011_drafts.ts";
import * as slots from "./0012_slots.ts";
import * as notices from "./0013_notices.ts";
import * as imports from "./0014_imports.ts";
import * as pageSessions from "./0015_page_sessions.ts";
import * as platformApps from "./0016_platform_apps.ts";
import * as oauth from "./0018_oauth.ts";
import * as results from "./0019_results.ts";
import * as films from "./0020_films.ts";
import * as pages from "./0021_pages.ts";

/** Statements, and steps that no statement can say. */
interface Migration {
  readonly statements: readonly (string | ((database: SqliteDatabase) => void))[];
}

/** In order, append-only; `PRAGMA user_version` counts those that a database has. */
export const MIGRATIONS: readonly Migration[] = [
  init,
  causes,
  crashMarks,
  reach,
  grants,
  live,
  limits,
  search,
  crashes,
  drafts,
  slots,
  notices,
  imports,
  pageSessions,
  platformApps,
  oauth,
  results,
  films,
  pages,
];

export const NEWEST_SCHEMA = MIGRATIONS.length;

/**
 * Synchronous and under the write lock: of several processes that start together, one migrates and the others
 * find it done. `beforeUpgrade` is called with the version of a database that holds something; where it
 * throws, nothing is changed.
 */
export function migrate(database: SqliteDatabase, beforeUpgrade: (version: number) => void = () => {}): void {
  // Writing the same version again would be a write like any other: every start would wait for the disk.
  if (readUserVersion(database) === MIGRATIONS.length) return;
  inTransaction(database, () => {
    const version = readUserVersion(database);
    if (version > MIGRATIONS.length) {
      throw new AppError(
        "unavailable",
        `The database was written by a newer Posthorn (schema ${version}, this one knows ${MIGRATIONS.length}). Nothing was changed. Update Posthorn, or point POSTHORN_DATA_DIR at another folder.`,
      );
    }
    if (version > 0 && version < MIGRATIONS.length) beforeUpgrade(version);
    applyMigrations(database, MIGRATIONS.slice(version));
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

/** Without a transaction of its own. */
export function applyMigrations(database: SqliteDatabase, migrations: readonly Migration[]): void {
  for (const step of migrations.flatMap(({ statements }) => statements)) {
    if (typeof step === "string") database.exec(step);
    else step(database);
  }
}

function readUserVersion(database: SqliteDatabase): number {
  const row = database.prepare("PRAGMA user_version").get([]) as { user_version: number };
  return row.user_version;
}

function inTransaction<T>(raw: SqliteDatabase, work: () => T): T {
  raw.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    raw.exec("COMMIT");
    return result;
  } catch (error) {
    rollback(raw);
    throw error;
  }
}
