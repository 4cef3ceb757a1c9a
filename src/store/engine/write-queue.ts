import type { SqliteDatabase } from "./driver.ts";
import { HANDLE, type Handle, type Store, type Tx } from "./store.ts";

interface Waiting {
  readonly run: (tx: Tx) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
}

/** What one fsync may stand for: the first of them waits for the last. */
const MAX_TOGETHER = 256;

/**
 * Group commit: transactions that are wanted at the same time run one after the other in one transaction of
 * the database, and share its fsync, which is most of what a small write costs. One that throws takes only
 * itself back: then all of them run again, each in a savepoint. Not at once, because a statement in a
 * savepoint costs more with every one before it.
 */
export function createWriteQueue(handle: Handle): Store["write"] {
  const queue: Waiting[] = [];
  let isRunning = false;

  const runAll = async (): Promise<void> => {
    isRunning = true;
    while (queue.length > 0) {
      // Before the connection is taken: whoever else wants to write still reads first.
      await new Promise((resolve) => setImmediate(resolve));
      await settleAll(handle, queue.splice(0, MAX_TOGETHER));
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
async function settleAll(handle: Handle, batch: readonly Waiting[]): Promise<void> {
  try {
    for (const end of (await runTogether(handle, batch)) ?? (await runApart(handle, batch))) end();
  } catch (error) {
    for (const one of batch) one.reject(error);
  }
}

/** Null, and nothing is written, where one of several throws. */
async function runTogether(handle: Handle, batch: readonly Waiting[]): Promise<(() => void)[] | null> {
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

function runApart(handle: Handle, batch: readonly Waiting[]): Promise<(() => void)[]> {
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
