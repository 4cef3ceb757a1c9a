import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "../../domain/errors.ts";
import { diskFull, type DiskRoom } from "../../ports/disk-room.ts";

const MiB = 1024 ** 2;

/** Of the reserve: what may be written before the disk is looked at again. */
const STEP_SHARE = 1 / 8;
const MAX_STEP_BYTES = 16 * MiB;

interface DiskRoomOptions {
  /** Anywhere on the disk; it need not be there yet. */
  readonly folder: string;
  /**
   * Called where there is too little: removes what may go, one after the other, until `isEnough`. Default:
   * nothing may.
   */
  readonly makeRoom?: (isEnough: () => Promise<boolean>) => Promise<void>;
}

/**
 * All writers of a process to one folder share one, so that together they do not write more than there is.
 */
export function createDiskRoom({ folder, makeRoom }: DiskRoomOptions): DiskRoom {
  let credit = 0;
  const look = async (bytes: number): Promise<void> => {
    let room = await roomOf(folder);
    if (room.spareBytes < bytes && makeRoom !== undefined) {
      await makeRoom(async () => (room = await roomOf(folder)).spareBytes >= bytes);
    }
    if (room.spareBytes < bytes) throw diskFull();
    credit = Math.min(room.spareBytes, Math.max(room.stepBytes, bytes));
  };
  return {
    expect: look,
    async take(bytes) {
      if (credit < bytes) await look(bytes);
      credit -= bytes;
    },
  };
}

interface Room {
  /** Above the reserve. */
  readonly spareBytes: number;
  readonly stepBytes: number;
}

async function roomOf(folder: string): Promise<Room> {
  const { blocks, bavail, bsize } = await statfsOf(folder);
  // Some file systems do not say how large they are.
  if (blocks === 0) return { spareBytes: Infinity, stepBytes: MAX_STEP_BYTES };
  const reserve = reserveOf(blocks * bsize);
  return {
    spareBytes: bavail * bsize - reserve,
    stepBytes: Math.min(Math.ceil(reserve * STEP_SHARE), MAX_STEP_BYTES),
  };
}

/**
 * What is kept free of a disk of this size: 5 %, at least 16 MiB and at most 512 MiB, and never more than a
 * quarter of it.
 */
export function reserveOf(diskBytes: number): number {
  return Math.min(Math.max(diskBytes * 0.05, 16 * MiB), 512 * MiB, diskBytes / 4);
}

async function statfsOf(folder: string): Promise<StatsFs> {
  try {
    return await statfs(folder);
  } catch (error) {
    if (!hasCode(error, ["ENOENT"]) || dirname(folder) === folder) throw error;
    return statfsOf(dirname(folder));
  }
}
