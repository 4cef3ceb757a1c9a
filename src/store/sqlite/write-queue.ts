import { AppError } from "../../domain/errors.ts";
import { HANDLE, type Engine, type Handle, type Tx } from "../engine/engine.ts";
import { isSqliteError, sqliteCode, type SqliteDatabase } from "../local/driver.ts";
import { explained } from "../local/sentences.ts";
import { BEGIN_TIMEOUT_MS } from "./database.ts";

interface Waiting {
  readonly run: (tx: Tx) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
  /** The number of refusals before it was queued. */
  readonly since: number;
}

/** Batch size: larger means fewer fsyncs, but the first write waits for the last. */
const MAX_TOGETHER = 256;

/** Between two tries to get the lock. Everything else runs meanwhile. */
const PAUSE_MS = 20;

/** After ten seconds of tries a write fails. */
const MAX_REFUSALS = 10_000 / (BEGIN_TIMEOUT_MS + PAUSE_MS);

type WriteQueue = Pick<Engine, "write" | "writeTrouble">;

/** With the connection itself, for savepoints. */
export interface SqliteHandle extends Handle {
  readonly raw: SqliteDatabase;
}

/**
 * Group commit: transactions that are wanted at the same time run one after the other in one transaction of
 * the database, and share its fsync, which is most of the cost of a small write. Where one throws, all of them
 * run again, each in a savepoint, and only that one is undone. Savepoints are not used at first: each makes the
 * statements after it slower.
 */
export function createWriteQueue(handle: SqliteHandle): WriteQueue {
  const queue: Waiting[] = [];
  let isRunning = false;
  let refusals = 0;
  let trouble: AppError | null = null;

  const runAll = async (): Promise<void> => {
    isRunning = true;
    while (queue.length > 0) {
      // Others that want to write read first, while the connection is free.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = queue.splice(0, MAX_TOGETHER);
      try {
        await runBatch(handle, batch);
        trouble = null;
      } catch (error) {
        trouble = outsideTrouble(error);
        if (trouble !== null && isBusy(trouble)) await askAgain(batch, trouble);
        else for (const one of batch) one.reject(error);
      }
    }
    isRunning = false;
  };

  /** Puts them back to the front of the queue. Each waits for its own ten seconds. */
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

/** Trouble with the disk or the lock; null for an error of the transaction itself. */
function outsideTrouble(error: unknown): AppError | null {
  const told = explained(error);
  return told instanceof AppError && isSqliteError(told.cause) ? told : null;
}

/** Another process holds the write lock. */
function isBusy(trouble: AppError): boolean {
  return sqliteCode(trouble.cause)?.startsWith("SQLITE_BUSY") === true;
}

/** Runs a batch and resolves its promises. Throws what kept the whole batch from being written. */
async function runBatch(handle: SqliteHandle, batch: readonly Waiting[]): Promise<void> {
  let isRefused = false;
  const runAll = (run: (tx: Tx, one: Waiting) => Promise<() => void>): Promise<(() => void)[]> =>
    handle.query.transaction().execute(async (query) => {
      const ends: (() => void)[] = [];
      isRefused = batch.length > 1;
      for (const one of batch) ends.push(await run({ [HANDLE]: { ...handle, query } }, one));
      isRefused = false;
      return ends;
    });
  const ends = await runAll((tx, one) => one.run(tx)).catch((error: unknown) => {
    if (!isRefused) throw error;
    return runAll((tx, one) => inSavepoint(tx, handle.raw, one));
  });
  for (const end of ends) end();
}

/** Returns what resolves or rejects its promise, to be called once the whole batch is durable. */
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

/** A full disk ends the whole transaction and its savepoints. Then the batch fails with that error. */
function takeBack(raw: SqliteDatabase, reason: unknown): void {
  try {
    raw.exec("ROLLBACK TO one");
    raw.exec("RELEASE one");
  } catch {
    throw reason;
  }
}
