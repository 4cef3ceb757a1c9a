import { AppError } from "../../../domain/errors.ts";

interface Waiting<Call> {
  readonly call: Call;
  readonly resolve: (isHeld: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** One statement for so many; its JSON stays well below a megabyte. */
const LARGEST = 500;

/**
 * Group commit: calls that come while one batch is written share the next. `write` answers those for whom it
 * was written, and may run again with the same calls. Of calls with the same key one goes after the other, as
 * a statement that meets a row twice writes it once.
 */
export function inBatches<Call>(
  keyOf: (call: Call) => string,
  write: (calls: readonly Call[]) => Promise<ReadonlySet<Call>>,
): (call: Call) => Promise<boolean> {
  let waiting: Waiting<Call>[] = [];
  let isUnderWay = false;

  const takeNext = (): Waiting<Call>[] => {
    const batch = new Map<string, Waiting<Call>>();
    const later: Waiting<Call>[] = [];
    for (const one of waiting) {
      const key = keyOf(one.call);
      if (batch.size < LARGEST && !batch.has(key)) batch.set(key, one);
      else later.push(one);
    }
    waiting = later;
    return [...batch.values()];
  };

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) await settle(takeNext(), write);
    isUnderWay = false;
  };

  return (call) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject });
      if (isUnderWay) return;
      isUnderWay = true;
      // What else comes in this turn of the event loop goes along.
      setImmediate(() => void writeAll());
    });
}

async function settle<Call>(
  batch: readonly Waiting<Call>[],
  write: (calls: readonly Call[]) => Promise<ReadonlySet<Call>>,
): Promise<void> {
  try {
    const held = await write(batch.map(({ call }) => call));
    for (const { call, resolve } of batch) resolve(held.has(call));
  } catch (error) {
    // One that the database refuses takes nobody with it; of a database that is in trouble nobody gets more.
    if (batch.length > 1 && !(error instanceof AppError)) for (const one of batch) await settle([one], write);
    else for (const { reject } of batch) reject(error);
  }
}
