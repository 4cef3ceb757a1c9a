/** Who of the workers on one database lives, and who may have taken over from whom. Every engine has its own way to it. */
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
}

export interface Hold {
  release(): Promise<void>;
}
