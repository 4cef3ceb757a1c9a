import { sql } from "kysely";
import type { Client } from "pg";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import { queryOf } from "../engine/handle.ts";
import type { Liveness, Wake } from "../engine/liveness.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { CHANNEL, Heartbeat, TIMES, type HeartbeatTimes } from "./heartbeat.ts";

export interface Leases {
  /** A worker keeps what it holds for so long after its last heartbeat, even where its lock is free. */
  readonly leaseMs: number;
  /**
   * Added where a step was under way: a request that was broken off may have left the machine, and reaches the
   * platform within this time.
   */
  readonly requestMs: number;
}

export const LEASES: Leases = { leaseMs: 60 * SECOND, requestMs: 30 * SECOND };

export interface LivenessOptions {
  /** Connects to the server itself, outside of the pool. */
  readonly connect: () => Promise<Client>;
  /** The machine's clock. */
  readonly clock: Clock;
  readonly times?: HeartbeatTimes | undefined;
  readonly leases?: Leases | undefined;
}

export interface BetweenProcesses extends AsyncDisposable {
  readonly liveness: Liveness & { readonly clock: Clock };
  readonly wake: Wake;
}

/** The database's time in milliseconds since 1970. The transaction's own time would stand still. */
const DATABASE_NOW = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/**
 * Shows processes on different machines that others live, and wakes them. The heartbeat connection is opened
 * with the first worker that is held, and again with the next one after a loss.
 */
export async function createLiveness(reader: Reader, options: LivenessOptions): Promise<BetweenProcesses> {
  const { connect, clock, times = TIMES, leases = LEASES } = options;
  const { rows } = await sql<{ now: number }>`SELECT ${DATABASE_NOW} AS now`.execute(queryOf(reader));
  // The database's clock, carried on by this machine's monotonic one. The time is noted when its answer has
  // come, so this clock is late by the answer's way and never early.
  let offset = (rows[0]?.now ?? 0) - clock.monotonic();
  const databaseClock: Clock = {
    now: () => Math.floor(clock.monotonic() + offset),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, work) => clock.after(ms, work),
  };
  const listeners = new Set<() => void>();
  let heartbeat: Heartbeat | null = null;
  let opening: Promise<Heartbeat> | null = null;
  const opened = async (): Promise<Heartbeat> => {
    if (heartbeat !== null && !heartbeat.isOver) return heartbeat;
    opening ??= Heartbeat.open({
      connect,
      clock,
      times,
      onTime: (now) => (offset = now - clock.monotonic()),
      onNotice: () => listeners.forEach((look) => look()),
    }).finally(() => (opening = null));
    return (heartbeat = await opening);
  };
  return {
    liveness: {
      clock: databaseClock,
      async hold(workerId, onLost) {
        const held = await opened();
        if (!(await held.hold(workerId, onLost))) throw stillTaken();
        return { release: () => held.release(workerId) };
      },
      check: () => heartbeat?.check(),
      listDead: (besides) => listSilent(reader, besides, leases),
    },
    wake: createWake(reader, clock, listeners),
    [Symbol.asyncDispose]: async () => heartbeat?.end(),
  };
}

function stillTaken(): AppError {
  return new AppError(
    "unavailable",
    "PostgreSQL keeps the last connection of this process for some seconds more. Try again in a moment.",
  );
}

/** The first NOTIFY is sent at once. Those that follow within this time become one. */
const TELL_EVERY_MS = 50;

function createWake(reader: Reader, clock: Clock, listeners: Set<() => void>): Wake {
  let isResting = false;
  let isWanted = false;
  const tell = (): void => {
    isWanted = isResting;
    if (isResting) return;
    isResting = true;
    clock.after(TELL_EVERY_MS, () => {
      isResting = false;
      if (isWanted) tell();
    });
    // A process that misses it looks within a second by itself.
    sql`SELECT pg_notify(${CHANNEL}, '')`.execute(queryOf(reader)).catch(() => {});
  };
  return {
    tell,
    listen(look) {
      listeners.add(look);
      return () => listeners.delete(look);
    },
  };
}

/** Other workers without a heartbeat for longer than a lease. They are probably dead. */
async function listSilent(reader: Reader, besides: string, { leaseMs }: Leases): Promise<string[]> {
  const rows = await queryOf(reader)
    .selectFrom("workers")
    .select("id")
    .where("id", "!=", besides)
    .where("heartbeat_at", "<", sql<number>`${DATABASE_NOW} - ${leaseMs}::bigint`)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Whether a worker is dead, for the transaction that takes over from it and until that ends. False where it
 * lives, may live, or another worker takes over. Its lock must be free and its lease over: after a restart of
 * the server all locks are free, and only the lease protects workers that live.
 */
export async function isProvenDead(
  tx: Tx,
  workerId: string,
  { leaseMs, requestMs }: Leases = LEASES,
): Promise<boolean> {
  const query = queryOf(tx);
  const { rows } = await sql<{
    is_free: boolean;
  }>`SELECT pg_try_advisory_xact_lock(hashtextextended(${workerId}, 0)) AS is_free`.execute(query);
  if (rows[0]?.is_free !== true) return false;
  const open = query
    .selectFrom("posts")
    .innerJoin("effects", (join) =>
      join.onRef("effects.post_id", "=", "posts.id").onRef("effects.run", "=", "posts.run"),
    )
    .select("posts.id")
    .where("posts.lease_worker", "=", workerId)
    .where("effects.state", "=", "intent");
  const lease = sql<number>`CASE WHEN exists(${open}) THEN ${leaseMs + requestMs}::bigint ELSE ${leaseMs}::bigint END`;
  const dead = await query
    .selectFrom("workers")
    .select("id")
    .where("id", "=", workerId)
    .where("heartbeat_at", "<", sql<number>`${DATABASE_NOW} - ${lease}`)
    // Its last claim may still be running. It ends, or the server ends it.
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return dead !== undefined;
}
