import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scan, type ScanResult, type Walk } from "../../../src/store/search/two-walks.ts";

/** Hits are the keys that this many divides, and each way looks at those that its own number divides. */
const HITS_EVERY = 12n;
const NEWEST = 24_000n;

interface Made {
  readonly every: bigint;
  readonly msPerCandidate: number;
  readonly msPerStep: number;
}

/** Two ways over made-up keys, and the clock that they move. */
function createWays(...made: readonly [Made, Made]): {
  walks: readonly [Walk, Walk];
  now: () => number;
  looked: [number, number];
} {
  let time = 0;
  const looked: [number, number] = [0, 0];
  const walk =
    (at: 0 | 1): Walk =>
    async ({ floor, ceiling }, limit) => {
      const { every, msPerCandidate, msPerStep } = made[at];
      const keys: bigint[] = [];
      const end = ceiling > NEWEST ? NEWEST : ceiling - 1n;
      // Below nothing there is nothing: the remainder of a negative number would lead up to 0 again.
      for (let key = end - (end % every); end >= floor && key >= floor && keys.length < limit; key -= every)
        keys.push(key);
      looked[at] += keys.length;
      time += msPerStep + keys.length * msPerCandidate;
      const [newest, oldest] = [keys[0], keys.at(-1)];
      const hits = keys.filter((key) => key % HITS_EVERY === 0n).map(String);
      return { keys: hits, span: keys.length < limit || !newest || !oldest ? null : { newest, oldest } };
    };
  return { walks: [walk(0), walk(1)], now: () => time, looked };
}

const hitsBelow = (ceiling: bigint, floor = 0n): string[] => {
  const keys: string[] = [];
  for (let key = ceiling - 1n - ((ceiling - 1n) % HITS_EVERY); key >= floor; key -= HITS_EVERY)
    keys.push(String(key));
  return keys;
};
const EVERYTHING = { floor: 0n, ceiling: 2n ** 63n - 1n };

describe("scan", () => {
  it("finds every hit once and in order, however quick its ways are and however often it has to stop", async () => {
    const Way = fc.record({
      every: fc.constantFrom(1n, 2n, 3n, 4n, 6n, 12n),
      msPerCandidate: fc.constantFrom(0, 0.001, 0.1, 2),
      msPerStep: fc.constantFrom(0, 0.5, 30),
    });
    await fc.assert(
      fc.asyncProperty(
        Way,
        Way,
        fc.integer({ min: 1, max: 600 }),
        fc.bigInt(0n, NEWEST),
        async (one, other, wanted, floor) => {
          const { walks, now } = createWays(one, other);
          const found: string[] = [];
          let ceiling: bigint | null = EVERYTHING.ceiling;
          while (ceiling !== null) {
            const page: ScanResult = await scan(walks, { floor, ceiling, wanted, now });
            expect(page.keys.length).toBeLessThanOrEqual(wanted);
            found.push(...page.keys);
            const last = page.keys.length === wanted ? page.keys.at(-1) : undefined;
            ceiling = last === undefined ? page.stoppedAt : BigInt(last);
          }
          expect(found).toEqual(hitsBelow(NEWEST + 1n, floor));
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    ["first", 0],
    ["second", 1],
  ] as const)(
    "leaves nearly all of it to the %s way where that gets further in a millisecond",
    async (_, quick) => {
      const quicker = { every: 12n, msPerCandidate: 0.005, msPerStep: 0.3 };
      const slower = { every: 1n, msPerCandidate: 0.005, msPerStep: 0.1 };
      const { walks, now, looked } = createWays(
        ...(quick === 0 ? ([quicker, slower] as const) : ([slower, quicker] as const)),
      );
      const { keys, stoppedAt } = await scan(walks, { ...EVERYTHING, wanted: 10_000, now });
      expect(stoppedAt).toBeNull();
      expect(keys).toEqual(hitsBelow(NEWEST + 1n));
      expect(looked[quick]).toBeGreaterThan(1_000);
      expect(now()).toBeLessThan(100);
    },
  );

  it("takes the step that fills the page no larger than it needs to be", async () => {
    const way = { every: 1n, msPerCandidate: 0.001, msPerStep: 0 };
    const { walks, looked } = createWays(way, way);
    await scan(walks, { ...EVERYTHING, wanted: 100, now: () => 0 });
    expect(looked[0] + looked[1]).toBeLessThan(100 * 12 * 1.4);
  });

  it("goes on with steps that it has tried, also after a short one that was to fill the page found nothing", async () => {
    // Each fourth of the newest candidates is a hit, and none of those below.
    const sizes: number[] = [];
    const walk: Walk = async ({ floor, ceiling }, limit) => {
      sizes.push(limit);
      const newest = ceiling > NEWEST ? NEWEST : ceiling - 1n;
      const oldest = newest - BigInt(limit) + 1n;
      const keys = Array.from({ length: limit }, (_, at) => newest - BigInt(at));
      const span = oldest < floor ? null : { newest, oldest };
      return { keys: keys.filter((key) => key > NEWEST - 256n && key % 4n === 0n).map(String), span };
    };
    await scan([walk, walk], { ...EVERYTHING, wanted: 100, now: () => 0 });
    for (const [at, size] of sizes.entries()) {
      if (at > 1) expect(size).toBeLessThanOrEqual(4 * Math.max(...sizes.slice(0, at)));
    }
  });

  it("ends a page when its time is over, and says where", async () => {
    const way = { every: 1n, msPerCandidate: 1, msPerStep: 0 };
    const { walks, now } = createWays(way, way);
    const { keys, stoppedAt } = await scan(walks, { ...EVERYTHING, wanted: 100, now });
    expect(now()).toBeLessThan(500);
    expect(keys).toEqual(hitsBelow(NEWEST + 1n, stoppedAt ?? 0n));
  });
});
