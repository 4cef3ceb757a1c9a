import { AppError, hasCode } from "../domain/errors.ts";

/**
 * Keeps room on the disk for the database: a disk that is full stops the publishing of everybody, so files
 * are refused before it is. Every method throws `unavailable` where less than the reserve would be left.
 */
export interface DiskRoom {
  /** Before anything is written: whether so many bytes fit. */
  expect(bytes: number): Promise<void>;
  /** For each piece that is about to be written; most of the time this costs an addition. */
  take(bytes: number): Promise<void>;
}

/** For a disk that has no room beside the reserve, and for one that has none at all. */
export function diskFull(cause?: unknown): AppError {
  return new AppError(
    "unavailable",
    "The file could not be stored. The disk is full, except for what is kept free for the database. Free some space and try again.",
    { cause },
  );
}

/** What the system says where nothing more can be written, or not by this user. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, ["ENOSPC", "EDQUOT"]);
}
