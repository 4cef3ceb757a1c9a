import { readFileSync } from "node:fs";
import { openSqlite, type SqliteDatabase } from "../../src/store/local/driver.ts";

/** The schema from before the numbers began anew. */
export const EARLY_SCHEMA = 19;

const STATEMENTS = readFileSync(new URL("../fixtures/schema-19.sqlite.sql", import.meta.url), "utf8");

/** A database file as a program of November 2026 left it. `fill` is given it with its triggers. */
export function makeEarlyDatabase(file: string, fill: (database: SqliteDatabase) => void = () => {}): void {
  const { database } = openSqlite({ file, busyTimeoutMs: 1_000 });
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(STATEMENTS);
  fill(database);
  database.close();
}
