import { VERSION } from "./version.ts";
import type { Context } from "./compose.ts";
import { startPublisher, type Publisher } from "./publisher/loop.ts";
import { dismissWorker, enlistWorker, type WorkerRole } from "./publisher/workers.ts";
import type { DataFolder } from "./data-folder.ts";
import { createWorkerLocks } from "./store/worker-lock.ts";

/** This process among those on the data folder. */
export interface Machine {
  readonly host: string;
  readonly pid: number;
}

/** Starts publishing in this process, woken by its own writes. */
export async function runPublisher(ctx: Context, folder: DataFolder, worker: Machine & { role: WorkerRole }): Promise<Publisher> {
  const publisher = await startPublisher(ctx, { identity: { ...worker, version: VERSION }, locks: createWorkerLocks(folder.locks) });
  ctx.links.wakePublisher = () => publisher.wake();
  return publisher;
}

/** Lists this process without publishing, so that others see that it is at work. */
export async function enlist(ctx: Context, folder: DataFolder, machine: Machine): Promise<() => Promise<void>> {
  const lock = createWorkerLocks(folder.locks).hold(ctx.workerId);
  await enlistWorker(ctx, { ...machine, role: "cli", version: VERSION });
  return async () => {
    await dismissWorker(ctx);
    lock.release();
  };
}
