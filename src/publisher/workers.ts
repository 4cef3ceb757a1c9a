import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import type { Hold } from "../store/engine/liveness.ts";
import { beatWorker, insertWorker, noteClosing, type WorkerRole } from "../store/tables/workers.ts";
import { whyGivenUp } from "./given-up.ts";

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
export async function enlistWorker(
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

/** Before what is under way is waited for: should the process be ended meanwhile, no post has ended it. */
export async function announceEnd(ctx: AppContext): Promise<void> {
  await ctx.store.write((tx) => noteClosing(tx, ctx.workerId));
}

export async function dismissWorker(ctx: AppContext): Promise<void> {
  // A database that is gone has no list of workers.
  if (ctx.store.isPresent()) await ctx.store.claims.freeWorker(ctx.workerId, ctx.clock.now());
}

/** Frees what processes held that are proven dead. */
export async function freeDeadWorkers(ctx: AppContext): Promise<number> {
  let freed = 0;
  for (const id of await ctx.store.liveness.listDead(ctx.workerId)) {
    const taken = await ctx.store.claims.takeOver(id, ctx.clock.now(), whyGivenUp);
    if (taken === null) continue;
    const { posts, givenUp } = taken;
    // One that held nothing was in nobody's way.
    ctx.log[posts > 0 ? "warn" : "info"]({ worker: id, posts }, "took over from a process that ended");
    for (const postId of givenUp) {
      ctx.log.warn({ postId }, "a post was given up with which the process ended again and again");
      await ctx.media.release(postId);
    }
    freed += posts;
  }
  return freed;
}
