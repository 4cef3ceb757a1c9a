import { AppError } from "../../domain/errors.ts";
import { BEGIN_TIMEOUT_MS, explained } from "./database.ts";
import { isSqliteError, sqliteCode, type SqliteDatabase } from "./driver.ts";
import type { SqliteHandle } from "./handle.ts";
import { HANDLE, type Store, type Tx } from "../engine/store.ts";

interface Waiting {
  readonly run: (tx: Tx) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
  /** How often the lock had been refused when it came. */
  readonly since: number;
}

/** What one fsync may stand for: the first of them waits for the last. */
const MAX_TOGETHER = 256;

/** Between two tries to get the lock everything else has its turn on the event loop. */
const PAUSE_MS = 20;

/** After ten seconds of tries a write is told that it cannot be. */
const MAX_REFUSALS = 10_000 / (BEGIN_TIMEOUT_MS + PAUSE_MS);

export interface WriteQueue {
  readonly write: Store["write"];
  readonly writeTrouble: Store["writeTrouble"];
}

/**
 * Group commit: transactions that are wanted at the same time run one after the other in one transaction of
 * the database, and share its fsync, which is most of what a small write costs. One that throws takes only
 * itself back: then all of them run again, each in a savepoint. Not at once, because a statement in a
 * savepoint costs more with every one before it.
 */
export function createWriteQueue(handle: SqliteHandle): WriteQueue {
  const queue: Waiting[] = [];
  let isRunning = false;
  let refusals = 0;
  let trouble: AppError | null = null;

  const runAll = async (): Promise<void> => {
    isRunning = true;
    while (queue.length > 0) {
      // Before the connection is taken: whoever else wants to write still reads first.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = queue.splice(0, MAX_TOGETHER);
      try {
        await settleAll(handle, batch);
        trouble = null;
      } catch (error) {
        trouble = outsideTrouble(error);
        if (trouble !== null && isBusy(trouble)) await askAgain(batch, trouble);
        else for (const one of batch) one.reject(error);
      }
    }
    isRunning = false;
  };

  /** In their order, before what has come since. Each waits for its own ten seconds. */
  const askAgain = async (batch: readonly Waiting[], refusal: unknown): Promise<void> => {
    refusals += 1;
    const isOver = ({ since }: Waiting): boolean => refusals - since >= MAX_REFUSALS;
    for (const one of batch) if (isOver(one)) one.reject(refusal);
    queue.unshift(...batch.filter((one) => !isOver(one)));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  };

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        queue.push({
          run: async (tx) => {
            const result = await work(tx);
            return () => resolve(result);
          },
          reject,
          since: refusals,
        });
        if (!isRunning) void runAll();
      }),
    writeTrouble: () => trouble,
  };
}

/** What kept a transaction from being written that was no fault of its own; null where there is no such. */
function outsideTrouble(error: unknown): AppError | null {
  const told = explained(error);
  return told instanceof AppError && isSqliteError(told.cause) ? told : null;
}

/** Another process holds the write lock. */
function isBusy(trouble: AppError): boolean {
  return sqliteCode(trouble.cause)?.startsWith("SQLITE_BUSY") === true;
}

/** Tells each of them; throws what kept all of them from being written. */
async function settleAll(handle: SqliteHandle, batch: readonly Waiting[]): Promise<void> {
  for (const end of (await runTogether(handle, batch)) ?? (await runApart(handle, batch))) end();
}

/** Null, and nothing is written, where one of several throws. */
async function runTogether(handle: SqliteHandle, batch: readonly Waiting[]): Promise<(() => void)[] | null> {
  let isRefused = false;
  try {
    return await handle.query.transaction().execute(async (transaction) => {
      isRefused = batch.length > 1;
      const tx: Tx = { [HANDLE]: { ...handle, query: transaction } };
      const ends: (() => void)[] = [];
      for (const one of batch) ends.push(await one.run(tx));
      isRefused = false;
      return ends;
    });
  } catch (error) {
    if (isRefused) return null;
    throw error;
  }
}

function runApart(handle: SqliteHandle, batch: readonly Waiting[]): Promise<(() => void)[]> {
  return handle.query.transaction().execute(async (transaction) => {
    const tx: Tx = { [HANDLE]: { ...handle, query: transaction } };
    const ends: (() => void)[] = [];
    for (const one of batch) ends.push(await inSavepoint(tx, handle.raw, one));
    return ends;
  });
}

/** What comes back tells its caller the outcome, and is called only after the whole batch is durable. */
async function inSavepoint(tx: Tx, raw: SqliteDatabase, one: Waiting): Promise<() => void> {
  raw.exec("SAVEPOINT one");
  try {
    const done = await one.run(tx);
    raw.exec("RELEASE one");
    return done;
  } catch (error) {
    takeBack(raw, error);
    return () => one.reject(error);
  }
}

/**
 * A full disk ends the whole transaction, savepoints and all: then the batch fails with what was the matter.
 */
function takeBack(raw: SqliteDatabase, reason: unknown): void {
  try {
    raw.exec("ROLLBACK TO one");
    raw.exec("RELEASE one");
  } catch {
    throw reason;
  }
}
