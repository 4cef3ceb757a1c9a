import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";

/** Longest delay a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    const options = signal === undefined ? {} : { signal };
    let left = ms;
    try {
      for (; left > MAX_TIMER_MS; left -= MAX_TIMER_MS) await delay(MAX_TIMER_MS, undefined, options);
      await delay(Math.max(0, left), undefined, options);
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
  after(ms, work) {
    const left = ms - MAX_TIMER_MS;
    let cancel: () => void = () => clearTimeout(timer);
    const timer = setTimeout(
      () => {
        if (left > 0) cancel = systemClock.after(left, work);
        else work();
      },
      Math.max(0, Math.min(ms, MAX_TIMER_MS)),
    );
    return () => cancel();
  },
};
