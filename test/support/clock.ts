import type { Clock } from "../../src/ports/clock.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it; sleepers wake in order of their time. */
export class FakeClock implements Clock {
  #now: number;
  #monotonic = 0;
  #sleepers: Sleeper[] = [];

  constructor(start = "2026-11-21T09:00:00.000Z") {
    this.#now = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** How many wait for their time. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason as Error);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  after(ms: number, work: () => void): () => void {
    const sleeper: Sleeper = { at: this.#now + ms, wake: work };
    this.#sleepers.push(sleeper);
    return () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
    };
  }

  /** Moves both clocks and wakes whoever slept until then. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#sleepers.filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next);
      this.#step(Math.max(next.at, this.#now));
      next.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#step(end);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The wall clock jumps; the monotonic one does not notice. */
  jumpTo(iso: string): void {
    this.#now = Date.parse(iso);
  }

  #step(to: number): void {
    this.#monotonic += to - this.#now;
    this.#now = to;
  }
}
