import {
  Kysely,
  SqliteDialect,
  SqliteQueryCompiler,
  type QueryCompiler,
  type SelectModifierNode,
} from "kysely";
import {
  openSqlite,
  rollback,
  sqliteCode,
  type DriverName,
  type SqliteDatabase,
  type SqliteStatement,
} from "../local/driver.ts";
import { explained, explainOpening } from "../local/sentences.ts";
import { migrate, NEWEST_SCHEMA } from "./schema.ts";
import type { Tables } from "../schema/tables.ts";
import type { Tell } from "../engine/engine.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";

/** An open database: Kysely for queries of both engines, the connection for SQLite's own. */
export interface Database extends AsyncDisposable {
  readonly query: Kysely<Tables>;
  readonly raw: SqliteDatabase;
  readonly driver: DriverName;
}

/** How long opening waits for another process that holds the lock. A write waits in its queue. */
const BUSY_TIMEOUT_MS = TIME_LIMITS.sqliteBusy;

/** How long the event loop stands still at most while a transaction asks for the lock (write-queue.ts). */
export const BEGIN_TIMEOUT_MS = 20;

export interface OpenOptions {
  /** A path, or ":memory:". */
  readonly file: string;
  readonly driver?: DriverName;
  /** Wraps the connection, to watch or disturb it. Default: the connection itself. */
  readonly around?: (connection: SqliteDatabase) => SqliteDatabase;
  /** Called before the file is brought to a newer schema. Default: not called. */
  readonly upgrade?: Upgrade;
}

interface Upgrade {
  /**
   * Copies the file of this version, and returns the copy's path. Called under the write lock, so that nothing is
   * written between the copy and the change. Where it throws, nothing is changed.
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
      const close = async (): Promise<void> => {
        await query.destroy();
        // Kysely closes nothing that it was never asked anything of.
        raw.close();
      };
      return { query, raw, driver: opened.driver, [Symbol.asyncDispose]: close };
    } catch (error) {
      raw.close();
      throw error;
    }
  } catch (error) {
    throw explainOpening(error, options.file);
  }
}

class Dialect extends SqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new Compiler();
  }
}

/** Leaves FOR NO KEY UPDATE out: SQLite has one writer, so what a transaction has read stays so. */
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

/** 32 MB, from which on a commit copies the log into the database. Publishers do it before (`checkpoint`). */
const MAX_WAL_PAGES = 8_000;

/** Copies the log into the database as far as readers allow, without waiting for them. */
export async function checkpoint({ query, raw }: Database): Promise<void> {
  await query.connection().execute(async () => {
    try {
      raw.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (error) {
      // The next checkpoint does it.
      if (!/^SQLITE_(LOCKED|BUSY)/.test(sqliteCode(error) ?? "")) throw error;
    }
  });
}

/** FULL: in WAL mode better-sqlite3's default loses committed intents when the power fails. */
function setPragmas(database: SqliteDatabase): void {
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = ${MAX_WAL_PAGES}`);
}

/**
 * The connection as Kysely gets it. Every transaction takes the write lock at its start: a deferred one would
 * fail with SQLITE_BUSY at its first write. Trouble with the disk is explained in a sentence.
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
      };
    },
  };
}

/** Waits only shortly for the lock. Reads keep the long wait, while another process recovers the log. */
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
  return { reader: false, all: () => [], get: () => undefined, run };
}

function explaining<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(error);
  }
}
