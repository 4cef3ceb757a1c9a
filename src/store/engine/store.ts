import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { SearchableText, SearchTerm } from "../../domain/compare-words.ts";
import type { AppError } from "../../domain/errors.ts";
import type { Claims } from "./claims.ts";
import type { Ledger } from "./ledger.ts";
import type { Liveness, Wake } from "./liveness.ts";
import type { Tables } from "../schema/tables.ts";
import type { Search } from "./search.ts";

/*
 * The one door to the database. Use cases and the publisher know the types of this file, and call functions of
 * `src/store` with them. Only `src/store` sees the handle, the SQL and the engine behind them.
 */

/** The key under which a `Reader` keeps its handle. Only `src/store` may use it. */
export const HANDLE: unique symbol = Symbol("what the store is made of");

/** Each engine may add to it. */
export interface Handle {
  readonly query: Kysely<Tables>;
  readonly index: PostIndex;
}

/** What is read from: the store itself, or a transaction, which also sees what it has written. */
export interface Reader {
  readonly [HANDLE]: Handle;
}

/** What is written through: a transaction under way. */
export interface Tx extends Reader {
  readonly [HANDLE]: Handle & { readonly query: Transaction<Tables> };
}

/** Is told in a sentence what opening did (`done`), or what it waits for (`waiting`). */
export type Tell = (sentence: string, kind: "done" | "waiting") => void;

export interface Store extends Reader, AsyncDisposable {
  /** The name of the engine or driver, for people who look for a fault. */
  readonly engine: string;
  /**
   * The one way to write: a transaction that is durable when the promise resolves. Transactions that are wanted at
   * the same time share one wait for the disk. `work` may run twice, so it only reads and writes through `tx`. An
   * error that it throws undoes only its own transaction. Throws `CommitUnanswered` where only the rows tell
   * whether it was done.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Why the last transaction could not be written: a disk that is full or broken, another program with the lock.
   * Null where it was written.
   */
  writeTrouble(): AppError | null;
  /** Aborted, with an AppError as its reason, once the database's file was deleted or replaced under it. */
  readonly lost: AbortSignal;
  /** Looks now; `lost` is aborted before it answers false. */
  isPresent(): boolean;
  readonly claims: Claims;
  readonly ledger: Ledger;
  readonly liveness: Liveness;
  readonly wake: Wake;
  readonly search: Search;
  /** Whether processes on several machines work on it. */
  readonly isShared: boolean;
  /** Does work that the engine puts off while posts go out. Does not wait for others. */
  tidy(): Promise<void>;
  /** Copies everything, as it is at one moment, to a file that is not there yet. */
  copyTo(file: string): Promise<void>;
}

/** An engine's own text index. It finds posts that may have some words. The domain then compares them. */
export interface PostIndex {
  /** Adds a post, or its changed text, in the transaction that writes the post. */
  put(tx: Tx, post: IndexedPost): Promise<void>;
  /**
   * The posts of all owners that may have all terms, as `posts AS p` of a FROM clause. Null where they are more than
   * `limit`, or where no term can be looked up.
   */
  find(reader: Reader, terms: readonly SearchTerm[], limit: number): Promise<RawBuilder<unknown> | null>;
}

export interface IndexedPost extends SearchableText {
  readonly id: string;
}
