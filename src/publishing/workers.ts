import { SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import type { AppContext } from "../context.ts";
import type { Hold } from "../store/engine/engine.ts";
import { beatWorker, insertWorker, noteClosing, type WorkerRole } from "../store/queries/workers.ts";
import type { Logger } from "../ports/logger.ts";

export const HEARTBEAT_EVERY_MS = TIME_LIMITS.beatEvery;

export interface WorkerIdentity {
  readonly role: WorkerRole;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/**
 * Enters this process in the list of those on the database, and shows that it lives. `onLost`: as of
 * `Liveness.hold`.
 */
export async function registerWorker(
  ctx: AppContext,
  identity: WorkerIdentity,
  onLost: (reason: Error) => void,
): Promise<Hold> {
  const hold = await ctx.store.liveness.hold(ctx.workerId, onLost);
  const now = ctx.clock.now();
  const row = { id: ctx.workerId, ...identity, started_at: now, heartbeat_at: now };
  try {
    await ctx.store.write((tx) => insertWorker(tx, row));
  } catch (error) {
    await hold.release();
    throw error;
  }
  return hold;
}

export async function beat(ctx: AppContext): Promise<void> {
  await ctx.store.write((tx) => beatWorker(tx, ctx.workerId, ctx.clock.now()));
}

/** Before what is in flight is waited for: should the process be ended meanwhile, no post crashed it. */
export async function announceEnd(ctx: AppContext): Promise<void> {
  await ctx.store.write((tx) => noteClosing(tx, ctx.workerId));
}

export async function unregisterWorker(ctx: AppContext): Promise<void> {
  // A database that is gone has no list of workers.
  if (ctx.store.isPresent()) await ctx.store.claims.freeWorker(ctx.workerId, ctx.clock.now());
}

/** Releases what processes held that are proven dead. Returns how many posts. */
export async function takeOverFromDead({ store, clock, log, media, workerId }: AppContext): Promise<number> {
  let released = 0;
  for (const id of await store.liveness.listDead(workerId)) {
    const taken = await store.claims.takeOver(id, clock.now());
    if (taken === null) continue;
    const { posts, failed } = taken;
    // One that held nothing was in no post's way.
    log[posts > 0 ? "warn" : "info"]({ worker: id, posts }, "took over from a process that ended");
    for (const postId of failed) {
      log.warn({ postId }, "a post failed, as the process ended again and again that worked on it");
      await media.release(postId);
    }
    released += posts;
  }
  return released;
}

/** Of what is tried each second: what lasts is told once a minute. */
const TOLD_EVERY = 60;

/** Counts failures in a row, and tells the log of the first of them, now and then, and of their end. */
export class RepeatedFailures {
  #count = 0;

  note(log: Logger, error: unknown, message: string): void {
    this.#count += 1;
    if (this.#count % TOLD_EVERY === 1) log.error({ err: error, failures: this.#count }, message);
  }

  end(log: Logger, message: string): void {
    if (this.#count > 0) log.info({ failures: this.#count }, message);
    this.#count = 0;
  }
}

interface Part {
  close(graceMs?: number): Promise<void>;
}

interface Supervisor<T> {
  /** Null from a loss until it works again. */
  current(): T | null;
  close(graceMs?: number): Promise<void>;
}

const TRY_EVERY_MS = SECOND;

/**
 * Begins something that ends when its tie to the database is lost, and begins it again each time, as soon as
 * that works. Throws where the first beginning fails.
 */
export async function supervise<T extends Part>(
  { clock, log }: Pick<AppContext, "clock" | "log">,
  begin: (onLost: (reason: Error) => void) => Promise<T>,
): Promise<Supervisor<T>> {
  const closing = new AbortController();
  const failures = new RepeatedFailures();
  let current: T | null = null;
  let renewing: Promise<void> = Promise.resolve();

  const start = async (): Promise<void> => {
    let onLost: (reason: Error) => void = () => {};
    const lost = new Promise<Error>((resolve) => (onLost = resolve));
    const part = await begin(onLost);
    current = part;
    void lost.then((reason) => (renewing = renew(part, reason)));
  };
  const renew = async (part: T, reason: Error): Promise<void> => {
    if (closing.signal.aborted) return;
    current = null;
    log.warn({ err: reason }, "the connection to the database was lost. What was being sent is broken off");
    const closed = part
      .close(0)
      .catch((error: unknown) => log.error({ err: error }, "something did not close"));
    while (!closing.signal.aborted) {
      try {
        await start();
        log.info({}, "the connection to the database is back");
        return await closed;
      } catch (error) {
        failures.note(log, error, "the database cannot be reached yet. Posthorn tries each second");
        await clock.sleep(TRY_EVERY_MS, closing.signal).catch(() => {});
      }
    }
  };

  await start();
  return {
    current: () => current,
    async close(graceMs) {
      closing.abort();
      await renewing;
      await current?.close(graceMs);
    },
  };
}
