import { systemClock } from "../../src/app/system-clock.ts";
import type { Clock } from "../../src/ports/clock.ts";

/** The real time, in which nobody waits: `slept` tells how long whoever asked would have. */
export function createInstantClock(): Clock & { readonly slept: number[]; skewMs: number } {
  const slept: number[] = [];
  const clock = {
    slept,
    skewMs: 0,
    now: () => Date.now() + clock.skewMs,
    monotonic: () => performance.now(),
    async sleep(ms: number, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted();
      slept.push(ms);
    },
    after: systemClock.after,
  };
  return clock;
}
