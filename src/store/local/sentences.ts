import { AppError } from "../../domain/errors.ts";
import { sqliteCode } from "./driver.ts";

const UNCHANGED = "Nothing was changed and nothing is lost.";
const DAMAGED = "The database is damaged. Stop Posthorn and restore a backup: posthorn restore FILE.";

/** By the beginning of SQLite's code: the reason where a file is opened, and the sentence where it is in use. */
const TROUBLE: readonly (readonly [code: string, opening: string, inUse: string])[] = [
  [
    "SQLITE_NOTADB",
    "it is not a SQLite database. Move it away, or point POSTHORN_DATA_DIR at another folder",
    DAMAGED,
  ],
  [
    "SQLITE_CORRUPT",
    "it is damaged. Restore a backup, or point POSTHORN_DATA_DIR at another folder",
    DAMAGED,
  ],
  [
    "SQLITE_CANTOPEN",
    "it cannot be opened. Check the permissions of the data folder",
    "A file of the database cannot be opened. Check the permissions of the data folder.",
  ],
  [
    "SQLITE_READONLY",
    "it cannot be written. Check the permissions of the data folder",
    `The database cannot be written. Check the permissions of the data folder, then try again. ${UNCHANGED}`,
  ],
  [
    "SQLITE_FULL",
    "the disk is full. Free some space and start again",
    `The disk of the data folder is full. Free some space, then try again. ${UNCHANGED}`,
  ],
  [
    "SQLITE_IOERR",
    "the disk reports an error. Check the disk",
    `The disk of the data folder reports an error. Check the disk, then try again. ${UNCHANGED}`,
  ],
  [
    "SQLITE_BUSY",
    "another program holds its lock. Close that program and start again",
    `Another program holds the database's lock for too long. Close it, then try again. ${UNCHANGED}`,
  ],
];

/** Trouble with the disk or the file as an AppError with a sentence. Any other error is returned as it is. */
export function explained(error: unknown): unknown {
  const code = sqliteCode(error);
  const sentence = TROUBLE.find(([prefix]) => code?.startsWith(prefix) === true)?.[2];
  return sentence === undefined ? error : new AppError("unavailable", sentence, { cause: error });
}

/** The same for a file that is opened. */
export function explainOpening(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  const reason = TROUBLE.find(([prefix]) => code.startsWith(prefix))?.[1] ?? "SQLite refused to open it";
  const sentence = `The database ${file} cannot be used: ${reason}. Nothing was changed.`;
  return new AppError("unavailable", sentence, { cause: error });
}
