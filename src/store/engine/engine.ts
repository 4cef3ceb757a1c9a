import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { AppError } from "../../domain/errors.ts";
import type { Finding } from "../../domain/health/findings.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Tables } from "../schema/tables.ts";
import type { Capabilities } from "./capabilities.ts";
import type { ClaimWish } from "./claims.ts";

/*
 * All that one database does in another way than others. Everything else of the store is one text for all of them.
 * docs/add-an-engine.md says what a further one needs; test/store/conformance is what each must pass.
 */

/** The key under which a `Reader` keeps its handle. Only `src/store` may use it. */
export const HANDLE: unique symbol = Symbol("what the store is made of");

/** What queries are made with. Each engine may add to it. */
export interface Handle {
  readonly query: Kysely<Tables>;
  readonly index: PostIndex;
  /** These texts as rows of a FROM clause, named `one`, in its column `value`. */
  rowsFrom(texts: readonly string[]): RawBuilder<unknown>;
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

export interface Engine extends Reader, AsyncDisposable {
  /** Of the engine or its driver, for people who look for a fault. Nothing is decided by it. */
  readonly name: string;
  readonly capabilities: Capabilities;
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
  /** Aborted, with an AppError as its reason, once the database was deleted or replaced under it. */
  readonly lost: AbortSignal;
  /** Looks now; `lost` is aborted before it answers false. */
  isPresent(): boolean;
  readonly queue: Queue;
  readonly liveness: Liveness;
  readonly wake: Wake;
  /** Of an engine with the capability `backupFile`; null of the others. */
  readonly file: DatabaseFile | null;
  /** Does work that the engine puts off while posts go out. Does not wait for others. */
  tidy(): Promise<void>;
  /** New rows are numbered after those that were inserted with numbers of their own. */
  continueNumbers(tx: Tx): Promise<void>;
}

export interface Queue {
  /** The ids of due posts, first due first. They belong to this transaction until it ends. */
  findDue(tx: Tx, wish: ClaimWish, now: number): Promise<string[]>;
  /** Proven in the transaction that takes over. Null: the worker may live. */
  death(tx: Tx, workerId: string): Promise<Death | null>;
}

/** The proof that a worker is dead. */
export interface Death {
  /** What it sent has reached its platform by then: a step that was under way is looked up there no sooner. */
  readonly arrivedAt: number;
}

/** Which workers on one database live. */
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

/** An index of the words of posts. What counts as a word is decided in `queries/search.ts`. */
export interface PostIndex {
  /** Sets the tokens of a post, in the transaction that writes it. */
  put(tx: Tx, postId: string, tokens: readonly string[]): Promise<void>;
  /** The ids of posts of all owners that have all these tokens, in no order. */
  find(reader: Reader, tokens: readonly WantedToken[], limit: number): Promise<string[]>;
}

export interface WantedToken {
  /** A word, or signs beyond ASCII: no quote, no space. */
  readonly text: string;
  /** Words that begin with it match too. */
  readonly isPrefix: boolean;
}

export interface DatabaseFile {
  /** Copies everything, as it is at one moment, to a file that is not there yet. */
  copyTo(file: string): Promise<void>;
  /** Whether the engine finds the database undamaged. */
  isSound(): Promise<boolean>;
  /** Makes the tables of another file readable as `replaced.…`, until this one is closed. */
  attachReplaced(file: string): Promise<void>;
  /** Brings everything into the file itself, which may then be moved. */
  fold(): Promise<void>;
}

/** What a look at a server found, before anything is opened there. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** No tables yet. */
  readonly isEmpty: boolean;
  /** It has the schema of this program. */
  readonly isCurrent: boolean;
}
