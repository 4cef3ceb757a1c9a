import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { SearchableText, SearchTerm } from "../../domain/compare-words.ts";
import type { AppError } from "../../domain/errors.ts";
import type { Claims } from "./claims.ts";
import type { Ledger } from "./ledger.ts";
import type { Liveness, Wake } from "./liveness.ts";
import type { Tables } from "./schema.ts";
import type { Search } from "./search.ts";

/*
 * The one door to what is stored. Use cases and publisher know this file's types and call the functions of
 * `src/store` with them; what is behind them (a handle, SQL, an engine) only `src/store` sees.
 */

/** Where a `Reader` keeps what it is made of; only `src/store` may name it. */
export const HANDLE: unique symbol = Symbol("what the store is made of");

/** Each engine keeps in it what it needs besides. */
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

/** Hears in a sentence what opening did (`done`), or what it cannot go on without (`waiting`). */
export type Tell = (sentence: string, kind: "done" | "waiting") => void;

export interface Store extends Reader, AsyncDisposable {
  /** What carries it, for people who look for a fault. */
  readonly engine: string;
  /**
   * The one way to write: a transaction that is durable when the promise resolves. Those that are wanted at
   * the same time share the wait for the disk. It may run twice, so it does nothing but read and write
   * through `tx`; what it throws takes back only itself. Throws `CommitUnanswered` where only the rows tell
   * whether it was done.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * What keeps transactions from being written: a disk that is full or broken, another program with the lock.
   * Null while the last one that was tried was written.
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
  /** Does what the engine puts off while posts go out; waits for nobody. */
  tidy(): Promise<void>;
  /** Copies everything, as it is at one moment, to a file that is not there yet. */
  copyTo(file: string): Promise<void>;
}

/** An engine's own text index: it names the posts that may have some words, and the domain compares them. */
export interface PostIndex {
  /** Makes a post findable, in the transaction that writes it; again after its text has changed. */
  put(tx: Tx, post: IndexedPost): Promise<void>;
  /**
   * The posts of all owners that may have all terms, as `posts AS p` of a FROM clause. Null where they are more than
   * `limit` or where the index knows none of the terms.
   */
  find(reader: Reader, terms: readonly SearchTerm[], limit: number): Promise<RawBuilder<unknown> | null>;
}

export interface IndexedPost extends SearchableText {
  readonly id: string;
}
