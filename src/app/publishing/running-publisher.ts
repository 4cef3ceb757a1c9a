import { VERSION } from "../version.ts";
import type { Context } from "../compose.ts";
import { startKeeper } from "../../publisher/keeper.ts";
import { startPublisher, type Publisher } from "../../publisher/loop.ts";
import type { WorkerRole } from "../../store/tables/workers.ts";
import { beat, dismissWorker, enlistWorker, HEARTBEAT_EVERY_MS } from "../../publisher/workers.ts";
import { startWebhookLoop } from "../../publisher/webhook-loop.ts";
import { RepeatedFailures } from "../../services/health/repeated-failures.ts";
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

/**
 * Lists this process without publishing, so that others see that it is at work. As `api` it is one that others
 * count on: they look when it was heard of last.
 */
export async function enlist(
  ctx: Context,
  folder: DataFolder,
  worker: Machine & { readonly role?: "caller" | "api" },
): Promise<() => Promise<void>> {
  const { role = "caller" } = worker;
  const lock = createWorkerLocks(folder.locks).hold(ctx.workerId);
  await enlistWorker(ctx, { ...worker, role, version: VERSION });
  const failures = new RepeatedFailures();
  const noteAlive = (): Promise<void> =>
    beat(ctx).then(
      () => failures.end(ctx.log, "this process is on the list of those at work again"),
      (error: unknown) => failures.note(ctx.log, error, "this process could not note that it is at work"),
    );
  const timer = role === "api" ? setInterval(() => void noteAlive(), HEARTBEAT_EVERY_MS) : undefined;
  return async () => {
    clearInterval(timer);
    await dismissWorker(ctx);
    lock.release();
  };
}
