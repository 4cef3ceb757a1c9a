import { MINUTE } from "../domain/time.ts";
import { createDiskRoom } from "../media/stores/disk-room.ts";
import type { Clock } from "../ports/clock.ts";
import type { DiskRoom } from "../ports/disk-room.ts";
import { makeRoom } from "../services/files/unfinished-uploads.ts";
import type { DataFolder } from "./data-folder.ts";

/** An upload to which nothing has come for so long gives way where the disk is full. */
const IDLE_MS = 10 * MINUTE;

type Place = "files" | "spool" | "uploads";

/** How much may still be written there; unfinished uploads that stand still are removed before it is refused. */
export function openDiskRoom(folder: DataFolder, place: Place, clock: Clock): DiskRoom {
  const uploads = { folder: folder.uploads, locks: folder.locks };
  return createDiskRoom({
    folder: folder[place],
    makeRoom: (isEnough) => makeRoom(uploads, clock.now() - IDLE_MS, isEnough),
  });
}

/**
 * Before the database is opened, which needs room itself. Where there is still too little it may do
 * nevertheless: files alone are refused then.
 */
export async function clearDisk(folder: DataFolder, clock: Clock): Promise<void> {
  await openDiskRoom(folder, "uploads", clock)
    .expect(0)
    .catch(() => {});
}
