import {
  Kysely,
  SqliteDialect,
  SqliteQueryCompiler,
  type QueryCompiler,
  type SelectModifierNode,
} from "kysely";
import { AppError } from "../../domain/errors.ts";
import {
  openSqlite,
  rollback,
  sqliteCode,
  type DriverName,
  type SqliteDatabase,
  type SqliteStatement,
} from "./driver.ts";
import { migrate, NEWEST_SCHEMA } from "./migrations/migrate.ts";
import type { Tables } from "../engine/schema.ts";
import type { Tell } from "../engine/store.ts";

/** An open database: Kysely for what every engine understands, the connection for what only SQLite does. */
export interface Database extends AsyncDisposable {
  readonly query: Kysely<Tables>;
  readonly raw: SqliteDatabase;
  readonly driver: DriverName;
}

/** Longest that opening waits for another process that holds the lock; a write waits in its queue. */
const BUSY_TIMEOUT_MS = 10_000;

/** Longest that the event loop stands still while a transaction asks for the lock (write-queue.ts). */
export const BEGIN_TIMEOUT_MS = 20;

export interface OpenOptions {
  /** A path, or ":memory:". */
  readonly file: string;
  readonly driver?: DriverName;
  /**
   * Stands between the store and the connection, for whoever watches or disturbs it. Default: nothing does.
   */
  readonly around?: (connection: SqliteDatabase) => SqliteDatabase;
  /** What comes before the file is brought to a newer schema. Default: nothing does. */
  readonly upgrade?: Upgrade;
}

interface Upgrade {
  /**
   * Copies the file, of which it gets the version, and answers the copy's path. Under the write lock, so that
   * nothing is written between the copy and the change. Where it throws, nothing is changed.
   */
  readonly keepCopy: (version: number) => string;
  readonly tell: Tell;
}

/**
 * Opens the database, sets its pragmas and brings it to the newest schema. Throws `unavailable` with one
 * sentence for a database that is newer than this program, damaged, or cannot be written.
 */
export function openDatabase(options: OpenOptions): Database {
  try {
    const opened = openSqlite({ ...options, busyTimeoutMs: BUSY_TIMEOUT_MS });
    const raw = options.around?.(opened.database) ?? opened.database;
    try {
      setPragmas(raw);
      bringUp(raw, options);
      const query = new Kysely<Tables>({ dialect: new Dialect({ database: forKysely(raw) as never }) });
      return { query, raw, driver: opened.driver, [Symbol.asyncDispose]: () => query.destroy() };
    } catch (error) {
      raw.close();
      throw error;
    }
  } catch (error) {
    throw explain(error, options.file);
  }
}

class Dialect extends SqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new Compiler();
  }
}

/** SQLite has one writer: what a transaction has read stays so without a lock on the row. */
class Compiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== "ForNoKeyUpdate") super.visitSelectModifier(node);
  }
}

function bringUp(raw: SqliteDatabase, { upgrade }: OpenOptions): void {
  if (upgrade === undefined) return migrate(raw);
  let news: string | null = null;
  migrate(raw, (version) => {
    const copy = upgrade.keepCopy(version);
    news = `The database was brought from schema ${version} to ${NEWEST_SCHEMA}. A copy of it as it was is kept in ${copy}.`;
  });
  if (news !== null) upgrade.tell(news, "done");
}

/**
 * Publishers carry the log over into the database when they have time (`checkpoint`); a commit does so only
 * from 32 MB on.
 */
const MAX_WAL_PAGES = 8_000;

/** Carries over what nobody needs in the log any more, without waiting for anybody. */
export async function checkpoint({ query, raw }: Database): Promise<void> {
  await query.connection().execute(async () => {
    try {
      raw.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (error) {
      // The next time will do.
      if (!/^SQLITE_(LOCKED|BUSY)/.test(sqliteCode(error) ?? "")) throw error;
    }
  });
}

/**
 * FULL: in WAL mode better-sqlite3's default loses committed intents at power loss. A database in memory
 * answers `memory` for its journal and needs none.
 */
function setPragmas(database: SqliteDatabase): void {
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("PRAGMA foreign_keys = ON");
  database.exec("PRAGMA cache_size = -65536");
  database.exec("PRAGMA temp_store = MEMORY");
  database.exec(`PRAGMA wal_autocheckpoint = ${MAX_WAL_PAGES}`);
}

/**
 * The handle as Kysely gets it. Every transaction takes the write lock at its start: a deferred one fails
 * with SQLITE_BUSY when it first writes. A disk that is full or broken is told in a sentence.
 */
function forKysely(database: SqliteDatabase): SqliteDatabase {
  return {
    ...database,
    prepare(source) {
      if (source === "rollback") return rollbackStatement(database);
      if (source === "begin") return beginStatement(database);
      const statement = database.prepare(source);
      return {
        reader: statement.reader,
        all: (parameters) => explaining(() => statement.all(parameters)),
        get: (parameters) => explaining(() => statement.get(parameters)),
        run: (parameters) => explaining(() => statement.run(parameters)),
        iterate: (parameters) => statement.iterate(parameters),
      };
    },
  };
}

/**
 * With a short wait of its own: reading while a log is recovered still waits for that as long as it takes.
 */
function beginStatement(database: SqliteDatabase): SqliteStatement {
  const begin = database.prepare("BEGIN IMMEDIATE");
  return runOnly((parameters) => {
    database.prepare(`PRAGMA busy_timeout = ${BEGIN_TIMEOUT_MS}`).get([]);
    try {
      return explaining(() => begin.run(parameters));
    } finally {
      database.prepare(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`).get([]);
    }
  });
}

function rollbackStatement(database: SqliteDatabase): SqliteStatement {
  return runOnly(() => {
    rollback(database);
    return { changes: 0, lastInsertRowid: 0 };
  });
}

function runOnly(run: SqliteStatement["run"]): SqliteStatement {
  return { reader: false, all: () => [], get: () => undefined, run, iterate: () => [].values() };
}

/**
 * What the caller is told when the disk, not the request, is the trouble. Nothing of the write stands then.
 */
function explaining<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(error);
  }
}

/** What whoever reads or writes is told; anything but trouble of the disk comes back as it is. */
export function explained(error: unknown): unknown {
  const code = sqliteCode(error);
  const find = (table: typeof WRITE_SENTENCES): string | undefined =>
    table.find(([prefix]) => code?.startsWith(prefix) === true)?.[1];
  const damage = find(DAMAGE_SENTENCES);
  if (damage !== undefined) return new AppError("unavailable", damage, { cause: error });
  const sentence = find(WRITE_SENTENCES);
  if (sentence === undefined) return error;
  return new AppError("unavailable", `${sentence} Nothing was changed and nothing is lost.`, {
    cause: error,
  });
}

/** Trouble that is there before anything is written. */
const DAMAGE_SENTENCES: readonly (readonly [string, string])[] = [
  ["SQLITE_CORRUPT", "The database is damaged. Stop Posthorn and restore a backup: posthorn restore FILE."],
  ["SQLITE_NOTADB", "The database is damaged. Stop Posthorn and restore a backup: posthorn restore FILE."],
  ["SQLITE_CANTOPEN", "A file of the database cannot be opened. Check the permissions of the data folder."],
];

const WRITE_SENTENCES: readonly (readonly [string, string])[] = [
  ["SQLITE_FULL", "The disk of the data folder is full. Free some space, then try again."],
  ["SQLITE_IOERR", "The disk of the data folder reports an error. Check the disk, then try again."],
  [
    "SQLITE_READONLY",
    "The database cannot be written. Check the permissions of the data folder, then try again.",
  ],
  ["SQLITE_BUSY", "Another program holds the database's lock for too long. Close it, then try again."],
];

function explain(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  const sentence = OPEN_SENTENCES.find(([prefix]) => code.startsWith(prefix))?.[1];
  return new AppError(
    "unavailable",
    `The database ${file} cannot be used: ${sentence ?? "SQLite refused to open it"}. Nothing was changed.`,
    { cause: error },
  );
}

const OPEN_SENTENCES: readonly (readonly [string, string])[] = [
  [
    "SQLITE_NOTADB",
    "it is not a SQLite database. Move it away, or point POSTHORN_DATA_DIR at another folder",
  ],
  ["SQLITE_CORRUPT", "it is damaged. Restore a backup, or point POSTHORN_DATA_DIR at another folder"],
  ["SQLITE_READONLY", "it cannot be written. Check the permissions of the data folder"],
  ["SQLITE_CANTOPEN", "it cannot be opened. Check the permissions of the data folder"],
  ["SQLITE_FULL", "the disk is full. Free some space and start again"],
  ["SQLITE_BUSY", "another program holds its lock. Close that program and start again"],
  ["SQLITE_IOERR", "the disk reports an error. Check the disk"],
];
