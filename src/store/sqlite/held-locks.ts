import { mkdirSync, statSync } from "node:fs";
import { AppError, codeOf } from "../../domain/errors.ts";
import type { SqliteDatabase } from "../engine/driver.ts";

/**
 * Makes the folder of locks. Its parent must be there: a data folder that was deleted must not come back by
 * that. Throws `unavailable` where something else has its name.
 */
export function makeLocksFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if (codeOf(cause) === "EEXIST" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      return;
    const reason =
      codeOf(cause) === "EEXIST"
        ? "Posthorn keeps its locks in a folder of this name, and something else has it. Move that away"
        : "the folder of the locks cannot be made there. Check that the data folder is there and can be written";
    throw new AppError("unavailable", `${path}: ${reason}, then start again.`, { cause });
  }
}

/** A lock ends with its handle, and the garbage collector closes a handle that nothing refers to any more. */
const HELD = new Set<SqliteDatabase>();

/**
 * Keeps a handle with its lock open until the function that it answers is called, whoever has forgotten it.
 */
export function keepOpen(database: SqliteDatabase): () => void {
  HELD.add(database);
  return () => {
    HELD.delete(database);
    database.close();
  };
}
