import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../context.ts";
import type { Logger } from "../ports/logger.ts";

/** Of what is tried each second: what lasts is told once a minute. */
const TOLD_EVERY = 60;

/** Counts failures in a row, and tells the log of the first of them, now and then, and of their end. */
export class RepeatedFailures {
  #count = 0;

  note(log: Logger, error: unknown, message: string): void {
    this.#count += 1;
    if (this.#count % TOLD_EVERY === 1) log.error({ err: error, failures: this.#count }, message);
  }

  end(log: Logger, message: string): void {
    if (this.#count > 0) log.info({ failures: this.#count }, message);
    this.#count = 0;
  }
}

interface Part {
  close(graceMs?: number): Promise<void>;
}

export interface Supervised<T> {
  /** Null from a loss until it works again. */
  current(): T | null;
  close(graceMs?: number): Promise<void>;
}

const TRY_EVERY_MS = SECOND;

/**
 * Begins something that ends when its tie to the database is lost, and begins it again each time, as soon as
 * that works. Throws where the first beginning fails.
 */
export async function supervise<T extends Part>(
  { clock, log }: Pick<AppContext, "clock" | "log">,
  begin: (onLost: (reason: Error) => void) => Promise<T>,
): Promise<Supervised<T>> {
  const closing = new AbortController();
  const failures = new RepeatedFailures();
  let current: T | null = null;
  let renewing: Promise<void> = Promise.resolve();

  const start = async (): Promise<void> => {
    let onLost: (reason: Error) => void = () => {};
    const lost = new Promise<Error>((resolve) => (onLost = resolve));
    const part = await begin(onLost);
    current = part;
    void lost.then((reason) => (renewing = renew(part, reason)));
  };
  const renew = async (part: T, reason: Error): Promise<void> => {
    if (closing.signal.aborted) return;
    current = null;
    log.warn({ err: reason }, "the connection to the database was lost. What was being sent is broken off");
    const closed = part
      .close(0)
      .catch((error: unknown) => log.error({ err: error }, "something did not close"));
    while (!closing.signal.aborted) {
      try {
        await start();
        log.info({}, "the connection to the database is back");
        return await closed;
      } catch (error) {
        failures.note(log, error, "the database cannot be reached yet. Posthorn tries each second");
        await clock.sleep(TRY_EVERY_MS, closing.signal).catch(() => {});
      }
    }
  };

  await start();
  return {
    current: () => current,
    async close(graceMs) {
      closing.abort();
      await renewing;
      await current?.close(graceMs);
    },
  };
}
