import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SECOND } from "../../src/domain/time.ts";
import { everySecond } from "../../src/publisher/one-at-a-time.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("works each second until it is stopped", async () => {
  const work = vi.fn(async () => {});
  const stop = everySecond(work, () => expect.unreachable());
  await vi.advanceTimersByTimeAsync(3 * SECOND);
  expect(work).toHaveBeenCalledTimes(3);
  stop();
  await vi.advanceTimersByTimeAsync(3 * SECOND);
  expect(work).toHaveBeenCalledTimes(3);
});

it("waits for work that takes longer, and does not make up for it", async () => {
  const work = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 2.5 * SECOND)));
  const stop = everySecond(work, () => expect.unreachable());
  await vi.advanceTimersByTimeAsync(3.4 * SECOND);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(SECOND);
  expect(work).toHaveBeenCalledTimes(2);
  stop();
});

it("tells of work that failed, and goes on", async () => {
  const failures: unknown[] = [];
  const stop = everySecond(
    () => Promise.reject(new Error("disk full")),
    (error) => failures.push(error),
  );
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  expect(failures).toEqual([new Error("disk full"), new Error("disk full")]);
  stop();
});
