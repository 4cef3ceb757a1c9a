/**
 * Runs a piece of work, never twice at a time: a wish that comes while it runs is granted after it, once for
 * all of them.
 */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  #isWanted = false;
  #running: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Ends when nothing is wanted any more. */
  run(): Promise<void> {
    this.#isWanted = true;
    this.#running ??= this.#runWhileWanted();
    return this.#running;
  }

  /** Waits for what runs, however it ends. */
  async settle(): Promise<void> {
    await this.#running?.catch(() => {});
  }

  /** Its end and the last look at the wish are one turn, so that no wish is lost in between. */
  async #runWhileWanted(): Promise<void> {
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await this.#work();
      }
    } finally {
      this.#running = null;
    }
  }
}
