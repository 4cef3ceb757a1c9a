import { expect, it } from "vitest";
import { systemClock } from "../src/system-clock.ts";

it("sleeps until the time has passed, or the signal is given", async () => {
  const before = systemClock.monotonic();
  await systemClock.sleep(5);
  // Timers may fire a millisecond early.
  expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(4);
  await systemClock.sleep(-5);

  const stop = new AbortController();
  const reason = new Error("enough");
  const sleeping = systemClock.sleep(60_000, stop.signal);
  stop.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  await expect(systemClock.sleep(60_000, stop.signal)).rejects.toBe(reason);
});

it("sleeps longer than a timer can", async () => {
  const stop = new AbortController();
  let isAwake = false;
  const sleeping = systemClock.sleep(2 ** 31 + 5, stop.signal).then(
    () => (isAwake = true),
    () => {},
  );
  await systemClock.sleep(20);
  expect(isAwake).toBe(false);
  stop.abort(new Error("enough"));
  await sleeping;
});
