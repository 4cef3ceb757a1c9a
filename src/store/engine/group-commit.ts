import type { SqliteDatabase } from "./driver.ts";

/** Runs a piece of synchronous work durably; resolves once it is on disk. It may run twice: it writes to the database alone. */
export type Commit = <T>(work: (raw: SqliteDatabase) => T) => Promise<T>;

interface Waiting {
  readonly run: (raw: SqliteDatabase) => () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes that are wanted in the same turn of the event loop share one transaction, and so one fsync: at FULL that is what
 * bounds how many posts a second can go out. A piece that throws takes only itself back: then all of them run again, each in a
 * savepoint. Not at once, because a statement in a savepoint costs more with every statement before it.
 */
export function createGroupCommit(exclusive: <T>(work: (raw: SqliteDatabase) => T) => Promise<T>): Commit {
  let queue: Waiting[] = [];

  /** Null, and nothing is written, where a piece throws. */
  const runTogether = async (batch: readonly Waiting[]): Promise<(() => void)[] | null> => {
    let isRefused = false;
    try {
      return await exclusive((raw) => {
        isRefused = true;
        const settle = batch.map((piece) => piece.run(raw));
        isRefused = false;
        return settle;
      });
    } catch (error) {
      if (isRefused) return null;
      throw error;
    }
  };
  const runApart = (batch: readonly Waiting[]): Promise<(() => void)[]> =>
    exclusive((raw) => batch.map((piece) => inSavepoint(raw, piece)));

  const flush = async (): Promise<void> => {
    const batch = queue;
    queue = [];
    try {
      for (const done of (await runTogether(batch)) ?? (await runApart(batch))) done();
    } catch (error) {
      for (const piece of batch) piece.reject(error);
    }
  };

  return (work) =>
    new Promise((resolve, reject) => {
      queue.push({
        run: (raw) => {
          const result = work(raw);
          return () => resolve(result);
        },
        reject,
      });
      if (queue.length === 1) setImmediate(() => void flush());
    });
}

/** Runs the piece; what comes back tells its caller the outcome, and is called only after the whole batch is durable. */
function inSavepoint(raw: SqliteDatabase, piece: Waiting): () => void {
  raw.exec("SAVEPOINT piece");
  try {
    const done = piece.run(raw);
    raw.exec("RELEASE piece");
    return done;
  } catch (error) {
    takeBack(raw, error);
    return () => piece.reject(error);
  }
}

/** A full disk ends the whole transaction, savepoints and all: then the batch fails with what was the matter. */
function takeBack(raw: SqliteDatabase, reason: unknown): void {
  try {
    raw.exec("ROLLBACK TO piece");
    raw.exec("RELEASE piece");
  } catch {
    throw reason;
  }
}
