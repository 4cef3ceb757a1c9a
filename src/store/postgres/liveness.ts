import { sql } from "kysely";
import type { Client } from "pg";
import { AppError } from "../../domain/errors.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";
import type { Clock } from "../../ports/clock.ts";
import { queryOf } from "../engine/statements.ts";
import type { Death, Liveness, Reader, Tx, Wake } from "../engine/engine.ts";
import { hasEnded } from "../engine/process-place.ts";
import { CHANNEL, Heartbeat, TIMES, type HeartbeatTimes } from "./heartbeat.ts";

export interface Leases {
  /**
   * A worker keeps what it holds for so long after its last heartbeat, where its lock is free on the very start of
   * the server that the heartbeat came to. No heartbeat got lost there, so that it has stopped by itself before.
   */
  readonly leaseMs: number;
  /** When it has done so, after that heartbeat. */
  readonly stopsMs: number;
  /**
   * The lease on another server, or one that was restarted: all locks are free there, and it may not know of the
   * last heartbeats.
   */
  readonly leaseElsewhereMs: number;
  /** What a worker sent before it stopped has reached its platform after so long. */
  readonly requestMs: number;
}

export const LEASES: Leases = {
  leaseMs: TIME_LIMITS.takeOver,
  stopsMs: TIME_LIMITS.stopsByItself,
  leaseElsewhereMs: TIME_LIMITS.takeOverElsewhere,
  requestMs: TIME_LIMITS.arrives,
};

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
  // Any role of the server may send them, thousands a second.
  const heard = atMostEvery(clock, TELL_EVERY_MS, () => listeners.forEach((look) => look()));
  let heartbeat: Heartbeat | null = null;
  let opening: Promise<Heartbeat> | null = null;
  const opened = async (): Promise<Heartbeat> => {
    if (heartbeat !== null && !heartbeat.isOver) return heartbeat;
    opening ??= Heartbeat.open({
      connect,
      clock,
      times,
      onTime: (now) => (offset = now - clock.monotonic()),
      onNotice: heard,
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
      hasEnded: ({ host, pid }) => hasEnded({ place: host, pid }),
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

/** Works at once, and once more after a rest for all who wanted it meanwhile. */
function atMostEvery(clock: Clock, restMs: number, work: () => void): () => void {
  let isResting = false;
  let isWanted = false;
  const want = (): void => {
    isWanted = isResting;
    if (isResting) return;
    isResting = true;
    clock.after(restMs, () => {
      isResting = false;
      if (isWanted) want();
    });
    work();
  };
  return want;
}

function createWake(reader: Reader, clock: Clock, listeners: Set<() => void>): Wake {
  return {
    // A process that misses it looks within a second by itself.
    tell: atMostEvery(clock, TELL_EVERY_MS, () => {
      sql`SELECT pg_notify(${CHANNEL}, '')`.execute(queryOf(reader)).catch(() => {});
    }),
    listen(look) {
      listeners.add(look);
      return () => listeners.delete(look);
    },
  };
}

/** Other workers without a heartbeat for longer than a lease, or whose process ended here. They are probably dead. */
async function listSilent(reader: Reader, besides: string, { leaseMs }: Leases): Promise<string[]> {
  const rows = await queryOf(reader)
    .selectFrom("workers")
    .select(["id", "host", "pid"])
    .select(sql<boolean>`heartbeat_at < ${DATABASE_NOW} - ${leaseMs}::bigint`.as("is_silent"))
    .where("id", "!=", besides)
    .execute();
  return rows
    .filter((row) => row.is_silent || hasEnded({ place: row.host, pid: row.pid }))
    .map(({ id }) => id);
}

/**
 * Proves that a worker is dead, for the transaction that takes over from it and until that ends. Null where it
 * lives, may live, or another worker takes over. Its lock must be free. That proves too little by itself: it is
 * free, too, while a worker that was cut off has not noticed yet. So either its process has ended on this machine,
 * or its lease is over, within which it stops by itself. What it sent before may still be on its way.
 */
export async function proveDeath(
  tx: Tx,
  workerId: string,
  { leaseMs, stopsMs, leaseElsewhereMs, requestMs }: Leases = LEASES,
): Promise<Death | null> {
  const query = queryOf(tx);
  const { rows } = await sql<{
    is_free: boolean;
  }>`SELECT pg_try_advisory_xact_lock(hashtextextended(${workerId}, 0)) AS is_free`.execute(query);
  if (rows[0]?.is_free !== true) return null;
  const worker = await query
    .selectFrom("workers")
    .select(["host", "pid", "heartbeat_at"])
    .select(sql<boolean>`server IS NOT DISTINCT FROM pg_postmaster_start_time()`.as("is_same_server"))
    .select(sql<number>`${DATABASE_NOW} - heartbeat_at`.as("silent_ms"))
    .where("id", "=", workerId)
    // Its last claim may still be running. It ends, or the server ends it.
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (worker === undefined) return null;
  const isOver = worker.silent_ms > (worker.is_same_server ? leaseMs : leaseElsewhereMs);
  if (!isOver && !hasEnded({ place: worker.host, pid: worker.pid })) return null;
  const stoppedMs = worker.is_same_server ? stopsMs : leaseElsewhereMs;
  return { arrivedAt: worker.heartbeat_at + stoppedMs + requestMs };
}
