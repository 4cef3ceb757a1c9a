import { statfs } from "node:fs/promises";
import { AppError, hasCode } from "../domain/errors.ts";

/** What files leave free for the database, which publishes nothing on a full disk. */
const KEPT_FREE_BYTES = 512 * 1024 ** 2;

/** Of a disk that is smaller than four times that. */
const KEPT_FREE_SHARE = 1 / 4;

/** The disk has no space for a file: HTTP status 507 for an upload, another try for a post. */
export class DiskFull extends AppError {
  constructor(cause?: unknown) {
    super(
      "unavailable",
      "The file could not be stored. The disk is full, or nearly so. Free some space and try again.",
      { cause },
    );
  }
}

/** Throws `DiskFull` where less than 512 MiB would be left free beside a file of this size. */
export async function assertFreeSpace(folder: string, sizeBytes: number): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  // Some file systems do not say how large they are.
  if (blocks === 0) return;
  const kept = Math.min(KEPT_FREE_BYTES, blocks * bsize * KEPT_FREE_SHARE);
  if (bavail * bsize - sizeBytes < kept) throw new DiskFull();
}

/** `DiskFull` for what the system says where nothing more can be written; anything else as it is. */
export function explainFullDisk(error: unknown): unknown {
  return hasCode(error, ["ENOSPC", "EDQUOT"]) ? new DiskFull(error) : error;
}
