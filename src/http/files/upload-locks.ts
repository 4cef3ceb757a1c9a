import { setTimeout as delay } from "node:timers/promises";
import type { Lock, Locker, RequestRelease } from "@tus/server";
import { lockUpload, type UploadFolder } from "../../services/files/unfinished-uploads.ts";
import { LOCKED } from "./upload-answers.ts";

/** Whoever has the lock in this process is asked to end, and does so within 3 s. */
const WAIT_MS = 5_000;
const ELSEWHERE_WAIT_MS = 1_000;
const ASK_EVERY_MS = 50;

/** One request at a time works on an upload, among all processes on the data folder. */
export interface UploadLocks extends Locker {
  /** Answers the function that gives it back. Throws `LOCKED`, in tus's form, where it stays taken. */
  take(name: string, signal: AbortSignal, onWanted?: RequestRelease): Promise<() => void>;
}

export function createUploadLocks(at: UploadFolder): UploadLocks {
  /** How those are told who hold one here; others cannot be. */
  const holders = new Map<string, RequestRelease>();
  const take: UploadLocks["take"] = async (name, signal, onWanted = () => {}) => {
    for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
      const release = lockUpload(at, name);
      if (release !== null) {
        holders.set(name, onWanted);
        return () => {
          holders.delete(name);
          release();
        };
      }
      const holder = holders.get(name);
      if (signal.aborted || waitedMs >= (holder === undefined ? ELSEWHERE_WAIT_MS : WAIT_MS)) throw LOCKED;
      await holder?.();
      await delay(ASK_EVERY_MS);
    }
  };
  return { take, newLock: (name) => createLock(take, name) };
}

function createLock(take: UploadLocks["take"], name: string): Lock {
  let release = (): void => {};
  return {
    async lock(signal, onWanted) {
      release = await take(name, signal, onWanted);
    },
    async unlock() {
      release();
    },
  };
}
