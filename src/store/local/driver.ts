import { createRequire } from "node:module";
import { AppError, codeOf } from "../../domain/errors.ts";
import { withoutNul } from "../../domain/whole-text.ts";

/** What both drivers offer, in better-sqlite3's words. */
export interface SqliteDatabase {
  prepare(source: string): SqliteStatement;
  exec(source: string): void;
  /** Does nothing where it is closed. */
  close(): void;
}

export interface SqliteStatement {
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  get(parameters: readonly unknown[]): unknown;
  run(parameters: readonly unknown[]): { changes: number; lastInsertRowid: number | bigint };
}

export type DriverName = "better-sqlite3" | "node:sqlite";

export interface OpenOptions {
  readonly file: string;
  readonly busyTimeoutMs: number;
  /** Default: better-sqlite3, or node:sqlite where that cannot be loaded. */
  readonly driver?: DriverName;
}

// The drivers are loaded when they are needed: one of the two may be missing.
const require = createRequire(import.meta.url);

/** Opens a database with the driver that loads. Throws `unavailable` where none does. */
export function openSqlite(options: OpenOptions): { database: SqliteDatabase; driver: DriverName } {
  if (options.driver !== undefined) {
    return { database: OPENERS[options.driver](options), driver: options.driver };
  }
  try {
    return { database: OPENERS["better-sqlite3"](options), driver: "better-sqlite3" };
  } catch (cause) {
    // A file that cannot be opened is not a driver that cannot be loaded.
    if (isSqliteError(cause)) throw cause;
    try {
      return { database: OPENERS["node:sqlite"](options), driver: "node:sqlite" };
    } catch (second) {
      if (isSqliteError(second)) throw second;
      throw new AppError("unavailable", noDriver(cause), { cause });
    }
  }
}

function noDriver(cause: unknown): string {
  // npm leaves a package out that could neither be fetched built nor be compiled.
  const isLeftOut = codeOf(cause) === "MODULE_NOT_FOUND";
  const what = isLeftOut
    ? "is missing (it could not be built when Posthorn was installed)"
    : codeOf(cause) === "ERR_DLOPEN_FAILED"
      ? "was built for another release of Node or another system"
      : "was not built (its install script did not run)";
  const again = isLeftOut
    ? "install Posthorn again where github.com can be reached, which has the driver built for most systems. Elsewhere, "
    : "build the driver where Posthorn is installed: npm rebuild better-sqlite3, or install again with its script allowed " +
      "(npm: --allow-scripts=better-sqlite3, pnpm: pnpm approve-builds). Where it is not offered built for your system, ";
  return (
    `No SQLite driver works here: better-sqlite3 ${what}, and this Node has no node:sqlite. ` +
    `Run Posthorn with Node.js 22.13 or newer, which brings one. Or ${again}` +
    "that needs a C++ compiler and Node's headers (npm's setting nodedir names their folder)."
  );
}

/** True for an error of SQLite itself (file, lock, constraint), false for a driver that did not load. */
export function isSqliteError(error: unknown): error is Error & { code: string } {
  const code = codeOf(error);
  return code.startsWith("SQLITE_") || code === "ERR_SQLITE_ERROR";
}

/** SQLite's name for what went wrong (`SQLITE_BUSY`, `SQLITE_FULL`, …), the same for both drivers. */
export function sqliteCode(error: unknown): string | null {
  if (!isSqliteError(error)) return null;
  if (error.code !== "ERR_SQLITE_ERROR") return error.code;
  const number = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
  return NODE_SQLITE_CODES[number] ?? "SQLITE_ERROR";
}

// https://www.sqlite.org/rescode.html, primary result codes.
const NODE_SQLITE_CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};

const OPENERS: Record<DriverName, (options: OpenOptions) => SqliteDatabase> = {
  "better-sqlite3": ({ file, busyTimeoutMs }) => {
    const Driver = require("better-sqlite3") as typeof import("better-sqlite3");
    const handle = namingCode(() => new Driver(file, { timeout: busyTimeoutMs }));
    return caching(handle, (source) => handle.prepare(source) as unknown as SqliteStatement);
  },
  "node:sqlite": ({ file, busyTimeoutMs }) => {
    const { DatabaseSync } = require("node:sqlite") as NodeSqlite;
    const handle = new DatabaseSync(file, { timeout: busyTimeoutMs });
    return caching(handle, (source) => adapt(handle.prepare(source)));
  },
};

const MAX_CACHED_STATEMENTS = 500;

/**
 * Keeps prepared statements: preparing costs three times what a small statement does. Not all of them, because
 * `IN` lists of any length make new ones without end.
 */
function caching(
  handle: { exec(source: string): unknown; close(): unknown },
  prepare: (source: string) => SqliteStatement,
): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>();
  let isClosed = false;
  return {
    prepare(source) {
      const known = cache.get(source);
      if (known !== undefined) return known;
      const statement = prepare(source);
      if (cache.size >= MAX_CACHED_STATEMENTS) cache.clear();
      cache.set(source, statement);
      return statement;
    },
    exec: (source) => void handle.exec(source),
    close() {
      if (!isClosed) handle.close();
      isClosed = true;
    },
  };
}

/** Where the folder is missing, better-sqlite3 throws without a code. */
function namingCode<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof TypeError && error.message.includes("directory does not exist"))
      throw Object.assign(error, { code: "SQLITE_CANTOPEN" });
    throw error;
  }
}

// The types of Node 20 have no node:sqlite.
interface NodeSqlite {
  DatabaseSync: new (
    file: string,
    options: { timeout: number },
  ) => { prepare(source: string): NodeStatement; exec(source: string): void; close(): void };
}

interface NodeStatement {
  columns(): unknown[];
  all(...parameters: unknown[]): unknown[];
  get(...parameters: unknown[]): unknown;
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

function adapt(statement: NodeStatement): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters.map(storable)),
    get: (parameters) => statement.get(...parameters.map(storable)),
    run: (parameters) => {
      const { changes, lastInsertRowid } = statement.run(...parameters.map(storable));
      return { changes: Number(changes), lastInsertRowid };
    },
  };
}

/** Node 22 reads a text only up to its first NUL. */
function storable(parameter: unknown): unknown {
  return typeof parameter === "string" ? withoutNul(parameter) : parameter;
}

/** SQLite rolls back by itself on a full disk or an I/O error; then there is nothing left to roll back. */
export function rollback(raw: SqliteDatabase): void {
  try {
    raw.exec("ROLLBACK");
  } catch (error) {
    if (!isSqliteError(error)) throw error;
  }
}
