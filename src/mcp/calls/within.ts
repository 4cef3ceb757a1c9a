import type { AppContext } from "../../services/context.ts";

/** Waits for the work, but no longer than `ms`. */
export async function within(clock: AppContext["clock"], ms: number, work: Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(ms, resolve);
    void work.then(resolve, reject).finally(cancel);
  });
}
