import { VERSION } from "../domain/version.ts";
import type { AppContext, MaintenanceJob } from "../context.ts";
import { newId } from "../domain/ids.ts";
import { startPublisher, type Publisher } from "./loop.ts";
import type { WorkerRole } from "../store/queries/workers.ts";
import {
  beat,
  unregisterWorker,
  registerWorker,
  HEARTBEAT_EVERY_MS,
  RepeatedFailures,
  supervise,
} from "./workers.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { noticeRestore } from "./restored.ts";
import { advanceEpoch } from "../store/backup/restore-epoch.ts";
import { HOUR, SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import { convertFilms } from "../files/films.ts";
import { inspectDue } from "../channels/connecting/inspect.ts";
import { renewDueGrants } from "../channels/connecting/renewal.ts";

/** This process among those on the database. */
export interface ThisProcess {
  readonly host: string;
  readonly pid: number;
}

/** Sends what happened to webhooks and notices, beside the publisher. */
export interface EventLoop {
  wake(): void;
  /** Sends nothing new, and waits for what is under way at most this long. */
  close(graceMs: number): Promise<void>;
}

/**
 * A receiver that is slow to answer must not hold up the end; what is broken off is sent again by the next
 * process.
 */
const EVENTS_GRACE_MS = TIME_LIMITS.eventsDrain;

/**
 * Starts publishing in this process, woken by its own writes, and the sending of events. It has an id of its
 * own among the workers, another one each time that it begins again: what it had under way with the last one
 * is left to the process that takes over from that.
 */
export async function runPublisher(
  /** Writes of this process wake its publisher through `links`. */
  ctx: AppContext & { readonly links: { wakePublisher: () => void } },
  /** The file that says how far this machine saw the database come. */
  epoch: string,
  worker: ThisProcess & { role: WorkerRole },
  /** Of rooms above this one. */
  above: { readonly startEvents: (ctx: AppContext) => EventLoop; readonly jobs: readonly MaintenanceJob[] },
): Promise<Publisher> {
  const kept = await supervise<Publisher>(ctx, async (onLost) => {
    // After a loss it may be another server, which knows less: a standby, or one put back from a copy.
    if (ctx.store.capabilities.manyHosts) await noticeRestore(ctx, epoch);
    const own = { ...ctx, workerId: newId("wrk") };
    const publisher = await startPublisher(own, {
      identity: { ...worker, version: VERSION },
      mark: () => noteEpoch(ctx, epoch),
      onLost,
    });
    const events = above.startEvents(own);
    const maintenance = startMaintenance(own, { jobs: [...JOBS, ...above.jobs] });
    const stopListening = own.store.wake.listen(() => {
      publisher.wake();
      events.wake();
    });
    return {
      ...publisher,
      async close(graceMs) {
        maintenance.close();
        stopListening();
        await events.close(Math.min(graceMs ?? EVENTS_GRACE_MS, EVENTS_GRACE_MS));
        await publisher.close(graceMs);
      },
    };
  });
  ctx.links.wakePublisher = () => kept.current()?.wake();
  const isHealthy = (): boolean => kept.current()?.isHealthy() ?? false;
  const heartbeat = startHeartbeat(ctx, isHealthy);
  return {
    wake: () => kept.current()?.wake(),
    isHealthy,
    close(graceMs) {
      heartbeat.close();
      return kept.close(graceMs);
    },
  };
}

async function noteEpoch(ctx: AppContext, file: string): Promise<void> {
  const { store, log } = ctx;
  try {
    // On a server the database may be put back while this process runs.
    if (store.capabilities.manyHosts) await noticeRestore(ctx, file);
    await advanceEpoch(store, file);
  } catch (error) {
    if (store.isPresent()) log.warn({ err: error }, "how far the database has come could not be noted");
  }
}

/**
 * Lists this process without publishing, so that others see that it is at work: its use cases hold leases and
 * keys. As `api` it is one that others count on. They look at its last sign of life.
 */
export async function register(
  ctx: AppContext,
  worker: ThisProcess & { readonly role?: "caller" | "api" },
): Promise<() => Promise<void>> {
  const { role = "caller" } = worker;
  const kept = await supervise(ctx, async (onLost) => {
    const hold = await registerWorker(ctx, { ...worker, role, version: VERSION }, onLost);
    return { close: () => hold.release() };
  });
  const failures = new RepeatedFailures();
  const noteAlive = (): Promise<void> =>
    beat(ctx).then(
      () => failures.end(ctx.log, "this process is on the list of those at work again"),
      (error: unknown) => failures.note(ctx.log, error, "this process could not note that it is at work"),
    );
  const timer = role === "api" ? setInterval(() => void noteAlive(), HEARTBEAT_EVERY_MS) : undefined;
  return async () => {
    clearInterval(timer);
    await unregisterWorker(ctx);
    await kept.close();
  };
}

const JOBS: readonly MaintenanceJob[] = [
  { name: "tokens", everyMs: HOUR, run: renewDueGrants },
  { name: "accounts", everyMs: HOUR, run: inspectDue },
  { name: "films", everyMs: 5 * SECOND, run: convertFilms },
];

/** Processes that start together, after an update say, do not ask the platforms together. */
const FIRST_AFTER_MS = 15 * SECOND;
const FIRST_WITHIN_MS = 45 * SECOND;

interface Maintenance {
  /** Begins nothing more. Refreshes in flight go on by themselves. */
  close(): void;
}

/** Runs each job soon after the start and then in its turn, in processes that publish. */
export function startMaintenance(
  ctx: AppContext,
  { jobs = JOBS, random = Math.random }: { jobs?: readonly MaintenanceJob[]; random?: () => number } = {},
): Maintenance {
  const stop = new AbortController();
  const keep = async (job: MaintenanceJob): Promise<void> => {
    await ctx.clock.sleep(FIRST_AFTER_MS + random() * FIRST_WITHIN_MS, stop.signal);
    for (;;) {
      await runOnce(ctx, job, stop.signal);
      await ctx.clock.sleep(job.everyMs, stop.signal);
    }
  };
  for (const job of jobs) keep(job).catch(() => {});
  return { close: () => stop.abort(new Error("The process is stopping.")) };
}

async function runOnce(ctx: AppContext, job: MaintenanceJob, signal: AbortSignal): Promise<void> {
  try {
    await job.run(ctx, signal);
  } catch (err) {
    // The process ends with a sentence for a database that is gone.
    if (!ctx.store.isPresent() || signal.aborted) return;
    ctx.log.error({ err, job: job.name }, "a maintenance job failed, and the next pass tries again");
  }
}
