import type { Kysely, Transaction } from "kysely";
import type { SqliteDatabase } from "./driver.ts";

/** Runs a transaction of several awaited queries durably; resolves once it is on disk. It may run twice: it writes to the database alone. */
export type RunTransaction<T> = <R>(work: (tx: Transaction<T>) => Promise<R>) => Promise<R>;

interface Waiting<T> {
  readonly run: (tx: Transaction<T>) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
}

/** What a transaction runs on, and what it still has to do before it ends. */
interface Running {
  readonly raw: SqliteDatabase;
  readonly late: (() => void)[];
}

const running = new WeakMap<object, Running>();

/** The handle that a transaction runs on, for statements that must be quick: what it does is part of the transaction. */
export function rawOf(tx: object): SqliteDatabase {
  return runningOf(tx).raw;
}

/** Does synchronous work at the end of a transaction, in the order in which it came. What it throws takes the transaction back. */
export function beforeCommit(tx: object, work: () => void): void {
  runningOf(tx).late.push(work);
}

function runningOf(tx: object): Running {
  const known = running.get(tx);
  if (known === undefined) throw new Error("This transaction was not begun by the database's own function.");
  return known;
}

function doLateWork(tx: object): void {
  for (const work of runningOf(tx).late.splice(0)) work();
}

/** What one fsync may stand for: the first of them waits for the last. */
const MAX_TOGETHER = 32;

/**
 * Transactions that are wanted in the same turn of the event loop run one after the other in one transaction of the database, and
 * share its fsync, which is most of what a small write costs. One that throws takes only itself back: then all of them run again,
 * each in a savepoint. Not at once, because at each savepoint the text index writes down what it holds in memory.
 */
export function createGroupTransactions<T>(query: Kysely<T>, raw: SqliteDatabase): RunTransaction<T> {
  const queue: Waiting<T>[] = [];
  let isRunning = false;

  const runAll = async (): Promise<void> => {
    isRunning = true;
    while (queue.length > 0) {
      // Before the connection is taken: whoever else wants to write still reads first.
      await new Promise((resolve) => setImmediate(resolve));
      await settleAll(query, raw, queue.splice(0, MAX_TOGETHER));
    }
    isRunning = false;
  };

  return (work) =>
    new Promise((resolve, reject) => {
      queue.push({
        run: async (tx) => {
          const result = await work(tx);
          return () => resolve(result);
        },
        reject,
      });
      if (!isRunning) void runAll();
    });
}

/** Never throws: whoever waits is told. */
async function settleAll<T>(
  query: Kysely<T>,
  raw: SqliteDatabase,
  batch: readonly Waiting<T>[],
): Promise<void> {
  try {
    const ends = (await runTogether(query, raw, batch)) ?? (await runApart(query, raw, batch));
    for (const end of ends) end();
  } catch (error) {
    for (const one of batch) one.reject(error);
  }
}

/** Null, and nothing is written, where one of several throws. */
async function runTogether<T>(
  query: Kysely<T>,
  raw: SqliteDatabase,
  batch: readonly Waiting<T>[],
): Promise<(() => void)[] | null> {
  let isRefused = false;
  try {
    return await query.transaction().execute(async (tx) => {
      isRefused = batch.length > 1;
      running.set(tx, { raw, late: [] });
      const ends: (() => void)[] = [];
      for (const one of batch) ends.push(await one.run(tx));
      doLateWork(tx);
      isRefused = false;
      return ends;
    });
  } catch (error) {
    if (isRefused) return null;
    throw error;
  }
}

function runApart<T>(
  query: Kysely<T>,
  raw: SqliteDatabase,
  batch: readonly Waiting<T>[],
): Promise<(() => void)[]> {
  return query.transaction().execute(async (tx) => {
    const ends: (() => void)[] = [];
    for (const one of batch) ends.push(await inSavepoint(tx, raw, one));
    return ends;
  });
}

/** What comes back tells its caller the outcome, and is called only after the whole batch is durable. */
async function inSavepoint<T>(tx: Transaction<T>, raw: SqliteDatabase, one: Waiting<T>): Promise<() => void> {
  running.set(tx, { raw, late: [] });
  raw.exec("SAVEPOINT one");
  try {
    const done = await one.run(tx);
    doLateWork(tx);
    raw.exec("RELEASE one");
    return done;
  } catch (error) {
    takeBack(raw, error);
    return () => one.reject(error);
  }
}

/** A full disk ends the whole transaction, savepoints and all: then the batch fails with what was the matter. */
function takeBack(raw: SqliteDatabase, reason: unknown): void {
  try {
    raw.exec("ROLLBACK TO one");
    raw.exec("RELEASE one");
  } catch {
    throw reason;
  }
}
