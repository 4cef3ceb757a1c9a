import { type FilmJob, Overtaken } from "../../ports/film-converter.ts";

interface Waiting {
  readonly job: FilmJob;
  begin(): void;
}

/**
 * One film at a time, in the order in which their posts are due. One that is worked on ahead of its time is broken
 * off by one that is due, and begun anew later: it may take hours, and the other one some seconds.
 */
export class FilmTurns {
  #waiting: readonly Waiting[] = [];
  #running: { readonly job: FilmJob; readonly stop: AbortController } | null = null;

  run<T>(job: FilmJob, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(signal.reason);
      };
      const begin = (): void => {
        signal.removeEventListener("abort", leave);
        this.#work(job, signal, work).then(resolve, reject);
      };
      const waiting = { job, begin };
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting = [...this.#waiting, waiting].toSorted((a, b) => a.job.dueAt - b.job.dueAt);
      if (this.#running?.job.isAhead() === true && !job.isAhead()) this.#running.stop.abort(new Overtaken());
      this.#next();
    });
  }

  #next(): void {
    const [first, ...others] = this.#waiting;
    if (first === undefined || this.#running !== null) return;
    this.#waiting = others;
    first.begin();
  }

  async #work<T>(job: FilmJob, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    this.#running = { job, stop };
    try {
      return await work(AbortSignal.any([signal, stop.signal]));
    } catch (error) {
      stop.signal.throwIfAborted();
      throw error;
    } finally {
      this.#running = null;
      this.#next();
    }
  }
}
