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
