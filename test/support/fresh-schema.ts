import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/store/open-store.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import type { SqliteDatabase } from "../../src/store/local/driver.ts";
import { temporaryFolder } from "./temporary-folder.ts";

let text: Promise<string> | null = null;
let bytes: Promise<Buffer> | null = null;

/** The bytes of a database file that is empty and new: a copy is quicker to open than the migrations run. */
export function freshDatabase(): Promise<Buffer> {
  bytes ??= readDatabase();
  return bytes;
}

async function readDatabase(): Promise<Buffer> {
  using folder = temporaryFolder();
  const file = join(folder.path, "posthorn.db");
  const store = await openStore({ file, around: await freshSchema() });
  await store[Symbol.asyncDispose]();
  return readFileSync(file);
}

/**
 * For `openStore`'s `around`: gives an empty database what all migrations make, in one text. One migration after
 * the other takes 8 ms longer, which the thousands of stores of all tests add up to half a minute.
 */
export async function freshSchema(): Promise<(connection: SqliteDatabase) => SqliteDatabase> {
  text ??= readSchema();
  const schema = await text;
  return (connection) => {
    connection.exec(schema);
    return connection;
  };
}

async function readSchema(): Promise<string> {
  await using database = openDatabase({ file: ":memory:" });
  const { raw } = database;
  const made = raw
    .prepare(
      `SELECT sql FROM sqlite_master
      WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT GLOB 'search_index_*' ORDER BY rowid`,
    )
    .all([]) as { sql: string }[];
  const { user_version } = raw.prepare("PRAGMA user_version").get([]) as { user_version: number };
  return ["BEGIN", ...made.map(({ sql }) => sql), `PRAGMA user_version = ${user_version}`, "COMMIT"].join(
    ";\n",
  );
}
