import { Gate } from "../domain/gate.ts";

/** Posts whose request is on its way at a time: connections and their buffers are dear. */
const MAX_SENDING = 512;

/**
 * Whose turn it is to write and to send while many posts are due at once: claiming comes first, because everything else can wait
 * for it, then as many go out at a time as the machine bears.
 */
export class Turn {
  #claiming: { readonly done: Promise<void>; readonly end: () => void } | null = null;
  readonly #sending = new Gate(MAX_SENDING);

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
  }

  /** Resolves when nothing is being claimed. */
  async afterClaims(): Promise<void> {
    await this.#claiming?.done;
  }

  /** Runs a step that goes out. The first go at once, so that those who are first due are not late for those who are last. */
  send<T>(step: () => Promise<T>): Promise<T> {
    return this.#sending.pass(() => step().finally(() => this.afterClaims()));
  }
}
