import type { Clock } from "../../ports/clock.ts";

/** Which workers on one database live. Each engine finds out in its own way. */
export interface Liveness {
  /**
   * Shows that the worker lives, until `release` or until the process ends in whatever way. `onLost` is called
   * once, before others may take the worker for dead. It breaks off all requests before it returns, and nothing
   * is begun under this id any more.
   */
  hold(workerId: string, onLost: (reason: Error) => void): Promise<Hold>;
  /** Notices a loss now, without waiting for the event loop. Called right before a request is sent. */
  check(): void;
  /** Whether that worker's process is seen to have ended, however young its last heartbeat is. */
  hasEnded(worker: { readonly id: string; readonly host: string; readonly pid: number }): boolean;
  /** Other workers that are probably dead. The take-over proves it. */
  listDead(besides: string): Promise<readonly string[]>;
  /**
   * The database's clock, which workers on several machines share. Between two readings it is carried on by this
   * machine's clock. Null: all workers are on one machine.
   */
  readonly clock: Clock | null;
}

/** The proof that a worker is dead. */
export interface Death {
  /** What it sent has reached its platform by then: a step that was under way is looked up there no sooner. */
  readonly arrivedAt: number;
}

export interface Hold {
  release(): Promise<void>;
}

/** Tells other processes that something may be due. A message may get lost, so they also look by themselves. */
export interface Wake {
  /** Called after the commit. Does not wait. */
  tell(): void;
  /** Calls `look` for each message, while a worker is held, until the returned function is called. */
  listen(look: () => void): () => void;
}
