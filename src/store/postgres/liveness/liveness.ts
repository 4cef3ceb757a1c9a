import { sql } from "kysely";
import type { Client } from "pg";
import { AppError } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import { queryOf } from "../../engine/handle.ts";
import type { Liveness, Wake } from "../../engine/liveness.ts";
import type { Reader } from "../../engine/store.ts";
import { DATABASE_NOW, LEASES, listSilent, type Leases } from "./dead-workers.ts";
import { CHANNEL, Tie, TIMES, type TieTimes } from "./tie.ts";

export interface LivenessOptions {
  /** To the server itself, outside of any pool. */
  readonly connect: () => Promise<Client>;
  /** The machine's. */
  readonly clock: Clock;
  readonly times?: TieTimes | undefined;
  readonly leases?: Leases | undefined;
}

export interface BetweenProcesses extends AsyncDisposable {
  readonly liveness: Liveness & { readonly clock: Clock };
  readonly wake: Wake;
}

/**
 * What processes on different machines know of each other through PostgreSQL: by one connection beside the
 * pool, opened when a worker is held, and anew when one is held after a loss.
 */
export async function createLiveness(reader: Reader, options: LivenessOptions): Promise<BetweenProcesses> {
  const { connect, clock, times = TIMES, leases = LEASES } = options;
  const time = databaseClock(clock, await readTime(reader));
  const listeners = new Set<() => void>();
  const tieOptions = {
    connect,
    clock,
    times,
    onTime: time.note,
    onNotice: () => listeners.forEach((look) => look()),
  };
  let tie: Tie | null = null;
  let opening: Promise<Tie> | null = null;
  const tied = async (): Promise<Tie> => {
    if (tie !== null && !tie.isOver) return tie;
    opening ??= Tie.open(tieOptions).finally(() => (opening = null));
    return (tie = await opening);
  };

  return {
    liveness: {
      clock: time.clock,
      async hold(workerId, onLost) {
        const held = await tied();
        if (!(await held.hold(workerId, onLost))) throw stillTaken();
        return { release: () => held.release(workerId) };
      },
      check: () => tie?.check(),
      listDead: (besides) => listSilent(reader, besides, leases),
    },
    wake: createWake(reader, clock, listeners),
    [Symbol.asyncDispose]: async () => tie?.end(),
  };
}

function stillTaken(): AppError {
  return new AppError(
    "unavailable",
    "PostgreSQL keeps the last connection of this process for some seconds more. Try again in a moment.",
  );
}

async function readTime(reader: Reader): Promise<number> {
  const { rows } = await sql<{ now: number }>`SELECT ${DATABASE_NOW} AS now`.execute(queryOf(reader));
  return rows[0]?.now ?? 0;
}

/**
 * The database's clock for the whole service, carried on by this machine's monotonic clock. A time is noted when its
 * answer has come: the clock is late by the answer's way and never early.
 */
function databaseClock(machine: Clock, first: number): { clock: Clock; note: (databaseNow: number) => void } {
  let offset = first - machine.monotonic();
  return {
    clock: { ...machineTimers(machine), now: () => Math.floor(machine.monotonic() + offset) },
    note: (databaseNow) => {
      offset = databaseNow - machine.monotonic();
    },
  };
}

function machineTimers(machine: Clock): Omit<Clock, "now"> {
  return {
    monotonic: () => machine.monotonic(),
    sleep: (ms, signal) => machine.sleep(ms, signal),
    after: (ms, work) => machine.after(ms, work),
  };
}

/** The first word goes out at once; those that follow it within this time become one. */
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
    // Whoever does not hear of it looks within a second.
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
