import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runWatchdog } from "../../../src/app/start/watchdog.ts";

const SECOND = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The watchdog's side; the test is the loop that turns or does not. */
function watch({ isChild = false } = {}) {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const lines: string[] = [];
  const seen = { parentId: 7, killed: false, lines };
  runWatchdog(
    { cells: cells.buffer, isChild },
    {
      readParentId: () => seen.parentId,
      tell: (line) => lines.push(line),
      kill: () => (seen.killed = true),
    },
  );
  return {
    seen,
    ask: () => Atomics.store(cells, 1, 1),
    /** The loop turns once a second. */
    turn: (seconds: number) => {
      for (let at = 0; at < seconds; at += 1) {
        Atomics.add(cells, 0, 1);
        vi.advanceTimersByTime(SECOND);
      }
    },
    standStill: (seconds: number) => vi.advanceTimersByTime(seconds * SECOND),
  };
}

describe("the watchdog", () => {
  it("leaves a loop alone that turns, asked to end or not", () => {
    const { seen, turn, ask } = watch();
    turn(600);
    ask();
    turn(600);
    expect(seen).toMatchObject({ killed: false, lines: [] });
  });

  it("ends a process that stands still for fifteen seconds after it was asked to end, and says so", () => {
    const { seen, turn, ask, standStill } = watch();
    turn(5);
    standStill(60);
    ask();
    standStill(14);
    expect(seen.killed).toBe(false);
    standStill(2);
    expect(seen).toMatchObject({
      killed: true,
      lines: [expect.stringContaining("although it was asked to end")],
    });
  });

  it("ends one that was not asked after three minutes", () => {
    const { seen, turn, standStill } = watch();
    turn(5);
    standStill(179);
    expect(seen.killed).toBe(false);
    turn(1);
    standStill(179);
    expect(seen.killed).toBe(false);
    standStill(2);
    expect(seen.killed).toBe(true);
  });

  it("takes the end of the parent for a wish, where that is its client", () => {
    for (const isChild of [true, false]) {
      const { seen, turn, standStill } = watch({ isChild });
      turn(5);
      seen.parentId = 1;
      standStill(20);
      expect(seen.killed).toBe(isChild);
    }
  });
});
