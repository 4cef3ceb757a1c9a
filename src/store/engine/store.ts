import type { HANDLE, Handle, WritingHandle } from "./handle.ts";
import type { Claims } from "./claims.ts";
import type { Ledger } from "./ledger.ts";

/*
 * The one door to what is stored. Use cases and publisher know this file's types and call the functions of `src/store`
 * with them; what is behind them (a handle, SQL, an engine) only `src/store` sees.
 */

/** What is read from: the store itself, or a transaction, which also sees what it has written. */
export interface Reader {
  readonly [HANDLE]: Handle;
}

/** What is written through: a transaction under way. */
export interface Tx extends Reader {
  readonly [HANDLE]: WritingHandle;
}

export interface Store extends Reader, AsyncDisposable {
  /** What carries it, for people who look for a fault. */
  readonly engine: string;
  /**
   * The one way to write: a transaction that is durable when the promise resolves. Those that are wanted at the same time
   * share the wait for the disk. It may run twice, so it does nothing but read and write through `tx`; what it throws takes
   * back itself alone.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  readonly claims: Claims;
  readonly ledger: Ledger;
  /** Does what the engine puts off while posts go out; waits for nobody. */
  tidy(): Promise<void>;
  /** Copies everything, as it is at one moment, to a file that is not there yet. */
  copyTo(file: string): Promise<void>;
}
