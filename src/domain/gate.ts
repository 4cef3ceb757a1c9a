/** Lets so many through at a time; the others wait, and go in the order in which they came. */
export class Gate {
  readonly #max: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    try {
      return await work();
    } finally {
      // Who waited takes over the place, so that nobody slips in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
