import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../context.ts";
import type { Hold } from "../store/engine/liveness.ts";
import { beatWorker, insertWorker, noteClosing, type WorkerRole } from "../store/queries/workers.ts";

export const HEARTBEAT_EVERY_MS = 5 * SECOND;

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
    // One that held nothing was in nobody's way.
    log[posts > 0 ? "warn" : "info"]({ worker: id, posts }, "took over from a process that ended");
    for (const postId of failed) {
      log.warn({ postId }, "a post failed, as the process ended again and again that worked on it");
      await media.release(postId);
    }
    released += posts;
  }
  return released;
}
