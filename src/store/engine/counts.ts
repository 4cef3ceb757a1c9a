/** What is counted together by all processes on one database: requests, for their limits. */
export interface Counts {
  /**
   * Counts `by` more under the key, in the window of time that it falls into. What other processes have
   * counted is known a second later, so that a limit may be passed by what comes within one. Waits for
   * nothing.
   */
  add(key: string, what: Counting): Counted;
}

export interface Counting {
  readonly windowMs: number;
  readonly now: number;
  readonly by: number;
}

export interface Counted {
  /** In this window, these included. */
  readonly total: number;
  /** When the window ends, in milliseconds. */
  readonly endsAt: number;
}
