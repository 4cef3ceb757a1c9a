import type { Clock } from "../../ports/clock.ts";

/** Who of the workers on one database lives. Every engine has its own way to it. */
export interface Liveness {
  /**
   * Shows that the worker lives, until `release` or until the process ends in whatever way. `onLost` is
   * called once, when others may come to take it for dead from now on: whatever it sends is broken off before
   * that returns, and nothing is begun under its id any more.
   */
  hold(workerId: string, onLost: (reason: Error) => void): Promise<Hold>;
  /** Notices a loss at once, and not only when the event loop comes to it: asked right before a sending. */
  check(): void;
  /** Workers beside this one that do not live any more; it is for the take-over to prove it. */
  listDead(besides: string): Promise<readonly string[]>;
  /**
   * The clock that all of them go by, where they are on several machines: the database's, carried on between
   * two looks at it by this machine's. Null: they share a machine, and its clock.
   */
  readonly clock: Clock | null;
}

export interface Hold {
  release(): Promise<void>;
}

/**
 * Tells other processes on the database that something may have become due. A word may get lost: they look
 * from time to time as well.
 */
export interface Wake {
  /** After the commit; waits for nothing. */
  tell(): void;
  /** Calls `look` for each word until the function that it answers is called; only while a worker is held. */
  listen(look: () => void): () => void;
}
