import type { Liveness, Wake } from "../engine/liveness.ts";
import type { Reader } from "../engine/store.ts";
import { createWorkerLocks } from "./locks.ts";
import { listWorkersBeside } from "../queries/workers.ts";

/**
 * SQLite's way: all workers are on one machine, and the kernel gives up the lock of one that ends, never
 * before. Lateness proves nothing: a process that was stopped may go on any moment. Without a folder of locks
 * nobody is proven dead.
 */
export function createFileLiveness(reader: Reader, folder: string | undefined): Liveness {
  const locks = folder === undefined ? null : createWorkerLocks(folder);
  return {
    clock: null,
    async hold(workerId) {
      const lock = locks?.hold(workerId);
      return { release: async () => lock?.release() };
    },
    check() {},
    async listDead(besides) {
      if (locks === null) return [];
      return (await listWorkersBeside(reader, besides)).filter((id) => !locks.isAlive(id));
    },
  };
}

/** Others on the machine look each second. */
export const NO_WAKE: Wake = { tell() {}, listen: () => () => {} };
