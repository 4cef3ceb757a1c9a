import type { AppContext } from "../services/context.ts";

/** Waits for the work, but no longer than `ms`. */
export async function within(clock: AppContext["clock"], ms: number, work: Promise<void>): Promise<void> {
  const done = new AbortController();
  const limit = clock.sleep(ms, done.signal).catch(() => {
    // The work was done first.
  });
  await Promise.race([work, limit]);
  done.abort();
}
