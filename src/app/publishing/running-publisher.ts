import { VERSION } from "../version.ts";
import type { Context } from "../compose.ts";
import { startKeeper } from "../../publisher/keeper.ts";
import { startPublisher, type Publisher } from "../../publisher/loop.ts";
import type { WorkerRole } from "../../store/tables/workers.ts";
import { dismissWorker, enlistWorker } from "../../publisher/workers.ts";
import { startWebhookLoop } from "../../publisher/webhook-loop.ts";
import type { DataFolder } from "../data-folder.ts";
import { advanceGeneration } from "../../store/backup/generation.ts";
import { createWorkerLocks } from "../../store/sqlite/worker-lock.ts";

/** This process among those on the data folder. */
export interface Machine {
  readonly host: string;
  readonly pid: number;
}

/**
 * A receiver that is slow to answer must not hold up the end; what is broken off is sent again by the next
 * process.
 */
const EVENTS_GRACE_MS = 1_000;

/** Starts publishing in this process, woken by its own writes, and the sending of events. */
export async function runPublisher(
  ctx: Context,
  folder: DataFolder,
  worker: Machine & { role: WorkerRole },
): Promise<Publisher> {
  const publisher = await startPublisher(ctx, {
    identity: { ...worker, version: VERSION },
    locks: createWorkerLocks(folder.locks),
    mark: () => noteGeneration(ctx, folder),
  });
  ctx.links.wakePublisher = () => publisher.wake();
  const events = startWebhookLoop(ctx);
  const keeper = startKeeper(ctx);
  return {
    ...publisher,
    async close(graceMs) {
      keeper.close();
      await events.close(Math.min(graceMs ?? EVENTS_GRACE_MS, EVENTS_GRACE_MS));
      await publisher.close(graceMs);
    },
  };
}

async function noteGeneration({ store, log }: Context, folder: DataFolder): Promise<void> {
  await advanceGeneration(store, folder.generation).catch((error: unknown) => {
    if (store.isPresent()) log.warn({ err: error }, "how far the database has come could not be noted");
  });
}

/** Lists this process without publishing, so that others see that it is at work. */
export async function enlist(
  ctx: Context,
  folder: DataFolder,
  machine: Machine,
): Promise<() => Promise<void>> {
  const lock = createWorkerLocks(folder.locks).hold(ctx.workerId);
  await enlistWorker(ctx, { ...machine, role: "caller", version: VERSION });
  return async () => {
    await dismissWorker(ctx);
    lock.release();
  };
}
