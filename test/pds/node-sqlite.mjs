// Gives the server Node's own SQLite in better-sqlite3's words, where that was not built: as much of it as the
// server uses.
import Module from "node:module";

const require = Module.createRequire(import.meta.url);
const load = Module._load;

if (!hasNative()) {
  const { DatabaseSync } = require("node:sqlite");
  Module._load = function (name, ...rest) {
    return name === "better-sqlite3" ? standIn(DatabaseSync) : load.call(this, name, ...rest);
  };
}

function hasNative() {
  try {
    new (require("better-sqlite3"))(":memory:").close();
    return true;
  } catch {
    return false;
  }
}

function standIn(DatabaseSync) {
  return class {
    #database;

    constructor(file, { timeout }) {
      this.#database = new DatabaseSync(file, { timeout });
    }

    pragma(setting) {
      return this.prepare(`PRAGMA ${setting}`).all([]);
    }

    prepare(source) {
      const statement = this.#database.prepare(source);
      return {
        reader: statement.columns().length > 0,
        all: (values) => naming(() => statement.all(...values).map(withBuffers)),
        run: (values) => naming(() => statement.run(...values)),
      };
    }

    close() {
      this.#database.close();
    }
  };
}

/** Extended result codes of https://www.sqlite.org/rescode.html that the server tells from others. */
const CODES = {
  5: "SQLITE_BUSY",
  261: "SQLITE_BUSY_RECOVERY",
  517: "SQLITE_BUSY_SNAPSHOT",
  773: "SQLITE_BUSY_TIMEOUT",
  2067: "SQLITE_CONSTRAINT_UNIQUE",
};

function naming(work) {
  try {
    return work();
  } catch (error) {
    throw error.errcode in CODES ? Object.assign(error, { code: CODES[error.errcode] }) : error;
  }
}

function withBuffers(row) {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value) : value,
    ]),
  );
}
