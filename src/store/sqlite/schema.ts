import { createTable, type Dialect } from "../schema/ddl.ts";
import { TABLES } from "../schema/tables.ts";
import { newestVersion, statementsFrom, type Schema } from "../schema/versions.ts";
import { rollback, type SqliteDatabase } from "../local/driver.ts";

/** Their rows are long: the table is kept in the order of small numbers, and its keys apart from it. */
const WITH_ROWID: readonly string[] = ["posts", "drafts", "webhook_deliveries"];

const DIALECT: Dialect = {
  types: {
    text: "TEXT",
    integer: "INTEGER",
    bigint: "INTEGER",
    flag: "INTEGER",
    real: "REAL",
    sequence: "INTEGER PRIMARY KEY",
  },
  options: (name) => (WITH_ROWID.includes(name) ? " STRICT" : " STRICT, WITHOUT ROWID"),
};

const SCHEMA: Schema = {
  first: [
    ...Object.entries(TABLES).flatMap(([name, described]) => createTable(name, described, DIALECT)),
    // Words of posts: see post-index.ts.
    `CREATE TABLE search_posts (number INTEGER PRIMARY KEY, post_id TEXT NOT NULL UNIQUE) STRICT`,
    `CREATE VIRTUAL TABLE search_index USING fts5 (
      tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii', prefix = '2 3'
    )`,
  ],
  changes: [],
  early: {
    version: 19,
    statements: [
      ..."accounts_lost attempts_ended posts_files_changed posts_files_made posts_made posts_moved"
        .split(" ")
        .map((trigger) => `DROP TRIGGER ${trigger}`),
      ...withParts(createTable("attempt_totals", TABLES.attempt_totals, DIALECT)),
    ],
  },
  setting: "POSTHORN_DATA_DIR",
};

/** What was counted becomes one of the parts. */
function withParts(table: readonly string[]): string[] {
  return [
    "ALTER TABLE attempt_totals RENAME TO early_totals",
    ...table,
    `INSERT INTO attempt_totals (part, provider, outcome, bucket_ms, attempts, lateness_ms)
      SELECT 0, provider, outcome, bucket_ms, attempts, lateness_ms FROM early_totals`,
    "DROP TABLE early_totals",
  ];
}

/** `PRAGMA user_version` of a database that this program reads and writes. */
export const NEWEST_SCHEMA = newestVersion(SCHEMA);

/**
 * Synchronous and under the write lock: of several processes that start together, one migrates and the others
 * find it done. `beforeUpgrade` is called with the version of a database that holds something; where it
 * throws, nothing is changed.
 */
export function migrate(database: SqliteDatabase, beforeUpgrade: (version: number) => void = () => {}): void {
  // Writing the same version again would be a write like any other: every start would wait for the disk.
  if (readUserVersion(database) === NEWEST_SCHEMA) return;
  inTransaction(database, () => {
    const version = readUserVersion(database);
    const statements = statementsFrom(version, SCHEMA);
    if (version > 0 && version < NEWEST_SCHEMA) beforeUpgrade(version);
    for (const statement of statements) database.exec(statement);
    database.exec(`PRAGMA user_version = ${NEWEST_SCHEMA}`);
  });
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
