import type { SqliteDatabase } from "./driver.ts";

/** Runs a piece of synchronous work durably; resolves once it is on disk. */
export type Commit = <T>(work: (raw: SqliteDatabase) => T) => Promise<T>;

interface Waiting {
  readonly run: (raw: SqliteDatabase) => () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes that are wanted in the same turn of the event loop share one transaction, and so one fsync: at FULL that is what
 * bounds how many posts a second can go out. Each piece has a savepoint: one that throws takes only itself back.
 */
export function createGroupCommit(exclusive: <T>(work: (raw: SqliteDatabase) => T) => Promise<T>): Commit {
  let queue: Waiting[] = [];

  const flush = async (): Promise<void> => {
    const batch = queue;
    queue = [];
    try {
      const settle = await exclusive((raw) => batch.map((piece) => inSavepoint(raw, piece)));
      for (const done of settle) done();
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
