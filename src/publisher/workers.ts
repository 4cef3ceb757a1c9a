import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import { freeWorker } from "../store/publishing/claims.ts";
import type { Tables } from "../store/engine/schema.ts";
import type { WorkerLocks } from "../store/engine/worker-lock.ts";

export const HEARTBEAT_EVERY_MS = 5 * SECOND;

export type WorkerRole = Tables["workers"]["role"];

export interface WorkerIdentity {
  readonly role: WorkerRole;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/** Enters this process in the list of those on the data folder, after its lock is held. */
export async function enlistWorker(ctx: AppContext, identity: WorkerIdentity): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.query
    .insertInto("workers")
    .values({ id: ctx.workerId, ...identity, started_at: now, heartbeat_at: now })
    .execute();
}

export async function beat(ctx: AppContext): Promise<void> {
  await ctx.db.query
    .updateTable("workers")
    .set({ heartbeat_at: ctx.clock.now() })
    .where("id", "=", ctx.workerId)
    .execute();
}

export async function dismissWorker(ctx: AppContext): Promise<void> {
  await ctx.db.commit((raw) => freeWorker(raw, ctx.workerId, ctx.clock.now()));
}

/** Frees what processes held that are proven dead. Lateness proves nothing: a stopped process may go on any moment. */
export async function freeDeadWorkers(ctx: AppContext, locks: WorkerLocks): Promise<number> {
  const others = await ctx.db.query
    .selectFrom("workers")
    .select("id")
    .where("id", "!=", ctx.workerId)
    .execute();
  let freed = 0;
  for (const { id } of others) {
    if (locks.isAlive(id)) continue;
    const posts = await ctx.db.commit((raw) => freeWorker(raw, id, ctx.clock.now()));
    ctx.log.warn({ worker: id, posts }, "took over from a process that ended");
    freed += posts;
  }
  return freed;
}
