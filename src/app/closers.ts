import type { AppContext } from "../context.ts";

/** For what works on a context, which ends last. */
export function closersOf(ctx: AsyncDisposable & Pick<AppContext, "log">): Closers {
  const closers = new Closers((error) => ctx.log.error({ err: error }, "something did not close"));
  closers.add(() => ctx[Symbol.asyncDispose]());
  return closers;
}

/** Ends in reverse order what was begun in order; the standard's AsyncDisposableStack needs a newer Node. */
export class Closers implements AsyncDisposable {
  readonly #closers: (() => PromiseLike<void> | void)[] = [];
  readonly #noteFailure: (error: unknown) => void;

  /** What fails to close is reported and does not keep the rest open. */
  constructor(noteFailure: (error: unknown) => void) {
    this.#noteFailure = noteFailure;
  }

  add(close: () => PromiseLike<void> | void): void {
    this.#closers.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (;;) {
      const close = this.#closers.pop();
      if (close === undefined) return;
      try {
        await close();
      } catch (error) {
        this.#noteFailure(error);
      }
    }
  }
}
