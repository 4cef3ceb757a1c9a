import type { Clock } from "../../../ports/clock.ts";

/** One look at the database's clock: what it said, between two moments of this machine's monotonic clock. */
export interface TimeSample {
  readonly databaseNow: number;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/**
 * The database's clock, read from afar: its distance from a clock that nobody sets. A sample is right to half
 * of its round trip, so what it says is taken where it is the sharper one, or where what was believed before
 * cannot be.
 */
export class DatabaseTime {
  readonly #machine: Clock;
  #offset: number;
  #toleranceMs: number;

  constructor(machine: Clock, first: TimeSample) {
    this.#machine = machine;
    ({ offset: this.#offset, toleranceMs: this.#toleranceMs } = read(first));
  }

  note(sample: TimeSample): void {
    const { offset, toleranceMs } = read(sample);
    if (toleranceMs > this.#toleranceMs && Math.abs(offset - this.#offset) <= toleranceMs) return;
    this.#offset = offset;
    this.#toleranceMs = toleranceMs;
  }

  /** A clock for the whole service: its wall clock is the database's, its timers are this machine's. */
  get clock(): Clock {
    const machine = this.#machine;
    return {
      now: () => Math.floor(machine.monotonic() + this.#offset),
      monotonic: () => machine.monotonic(),
      sleep: (ms, signal) => machine.sleep(ms, signal),
      after: (ms, work) => machine.after(ms, work),
    };
  }
}

function read({ databaseNow, askedAt, answeredAt }: TimeSample): { offset: number; toleranceMs: number } {
  const toleranceMs = (answeredAt - askedAt) / 2;
  return { offset: databaseNow - askedAt - toleranceMs, toleranceMs };
}
