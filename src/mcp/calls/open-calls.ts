import type { AppContext } from "../../context.ts";

/** The tool calls under way, so that an ending server can wait for their answers. */
export class OpenCalls {
  readonly #open = new Set<Promise<unknown>>();

  track<T>(call: Promise<T>): Promise<T> {
    this.#open.add(call);
    const forget = (): void => void this.#open.delete(call);
    call.then(forget, forget);
    return call;
  }

  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }
}

/** Waits for the work, but no longer than `ms`. */
export async function within(clock: AppContext["clock"], ms: number, work: Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(ms, resolve);
    void work.then(resolve, reject).finally(cancel);
  });
}
