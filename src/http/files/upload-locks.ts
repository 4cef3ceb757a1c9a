import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Lock, Locker, MemoryLocker } from "@tus/server";
import { SECOND } from "../../domain/time.ts";

/** A request for an upload that another one is at waits for so long; the other is asked to end. */
const LOCK_TIMEOUT_MS = 5 * SECOND;
const ASK_EACH_MS = 50;

const ENDING = ".lock";

interface FileHold {
  release(): void;
}

/** Takes a lock on a file that holds between processes. Null while another one has it. */
export type TakeLock = (file: string) => FileHold | null;

export interface UploadLocks extends Locker {
  /** Takes the file of the lock of an upload away that is there no more. */
  forget(uploadId: string): Promise<void>;
  /** The same for all uploads but these. */
  forgetBut(uploadIds: readonly string[]): Promise<void>;
}

/** tus has a word for it, but calls it a fault of the server. */
const LOCKED = {
  status_code: 423,
  body: "Another request is sending to this upload, or it is just being stored. Wait a moment, then try again.",
};

/**
 * One request at a time for an upload, also where several servers work on the folder: tus's own lock for those of
 * this process, and within it a lock on a file.
 */
export function createUploadLocks(
  folder: string,
  { memory, take }: { readonly memory: typeof MemoryLocker; readonly take: TakeLock },
): UploadLocks {
  const inside = new memory({ acquireLockTimeout: LOCK_TIMEOUT_MS });
  const fileOf = (id: string): string => join(folder, `${id}${ENDING}`);
  const forget = (id: string): Promise<void> => rm(fileOf(id), { force: true });
  return {
    newLock: (id) =>
      bothLocks(inside.newLock(id), {
        take: () => take(fileOf(id)),
        // While it is held: who waits for the lock of an upload that has ended finds no upload.
        leave: () => (existsSync(join(folder, id)) ? Promise.resolve() : forget(id)),
      }),
    forget,
    async forgetBut(ids) {
      const names = (await readdir(folder)).filter((name) => name.endsWith(ENDING));
      const left = names.map((name) => name.slice(0, -ENDING.length)).filter((id) => !ids.includes(id));
      await Promise.all(left.map(forget));
    },
  };
}

interface FileLock {
  take(): FileHold | null;
  leave(): Promise<void>;
}

function bothLocks(inside: Lock, { take, leave }: FileLock): Lock {
  let held: FileHold | null = null;
  return {
    async lock(signal, requestRelease) {
      await inside.lock(signal, requestRelease).catch(() => {
        throw LOCKED;
      });
      for (let waited = 0; held === null && waited < LOCK_TIMEOUT_MS; waited += ASK_EACH_MS) {
        held = take();
        if (held === null) await sleep(ASK_EACH_MS);
      }
      if (held !== null) return;
      await inside.unlock();
      throw LOCKED;
    },
    async unlock() {
      await leave();
      held?.release();
      held = null;
      await inside.unlock();
    },
  };
}
