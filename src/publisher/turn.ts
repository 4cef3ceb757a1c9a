/** Posts whose request is on its way at a time: connections and their buffers are dear. */
const MAX_SENDING = 512;

/** Of them, those that go out while others are being claimed: what they write takes time from that. */
const MAX_SENDING_BESIDE_CLAIMS = 100;

/**
 * Whose turn it is to write and to send while many posts are due at once: claiming comes first, because everything else can wait
 * for it, then as many go out at a time as the machine bears.
 */
export class Turn {
  #claiming: { readonly done: Promise<void>; readonly end: () => void } | null = null;
  #sending = 0;
  readonly #waiting: (() => void)[] = [];

  /** More is to be claimed. */
  take(): void {
    if (this.#claiming !== null) return;
    let end = (): void => {};
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#claiming = { done, end };
  }

  pass(): void {
    this.#claiming?.end();
    this.#claiming = null;
    this.#admit();
  }

  /** Resolves when nothing is being claimed. */
  async afterClaims(): Promise<void> {
    await this.#claiming?.done;
  }

  /** Runs a step that goes out, in its turn. The first go at once, so that those who are first due are not late for those who are last. */
  send<T>(step: () => Promise<T>): Promise<T> {
    // Not an async function: ten thousand wait here, and each would hold what such a function keeps.
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(this.#run(step)));
      this.#admit();
    });
  }

  #admit(): void {
    const max = this.#claiming === null ? MAX_SENDING : MAX_SENDING_BESIDE_CLAIMS;
    while (this.#sending < max) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#sending += 1;
      next();
    }
  }

  async #run<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } finally {
      await this.afterClaims();
      this.#sending -= 1;
      this.#admit();
    }
  }
}
