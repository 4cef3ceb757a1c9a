import { expect, it } from "vitest";
import { systemClock } from "../../src/app/system-clock.ts";

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

it("does something later, or not when it is called off", async () => {
  const done: string[] = [];
  systemClock.after(2 ** 31 + 5, () => done.push("in weeks"))();
  const callOff = systemClock.after(1, () => done.push("at once"));
  await new Promise<void>((resolve) => systemClock.after(5, () => (done.push("soon"), resolve())));
  callOff();
  systemClock.after(1, () => done.push("called off"))();
  const callOffLong = systemClock.after(2 ** 31 + 5, () => done.push("too early"));
  await systemClock.sleep(20);
  callOffLong();
  expect(done).toEqual(["at once", "soon"]);
});
