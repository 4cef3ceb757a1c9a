import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeTid, laterTid, newTid } from "../../../src/platforms/bluesky/api.ts";

/** https://atproto.com/specs/tid */
const TID = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/;

describe("record keys", () => {
  it("are written and read as the specification says", () => {
    expect(encodeTid(0n, 0)).toBe("2222222222222");
    expect(encodeTid(1n, 0)).toBe("2222222222322");
    expect(encodeTid(0n, 1)).toBe("2222222222223");
    expect(laterTid("3jzfcijpj2z2a", 0)).toBe("3jzfcijpj2z2a");
  });

  it("sort as their moments do and have the form the network takes", () => {
    const moment = fc.integer({ min: 0, max: 4_102_444_800_000 });
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        expect(newTid(a)).toMatch(TID);
        if (a !== b) expect(newTid(a) < newTid(b)).toBe(a < b);
      }),
    );
  });

  it("follow each other in a thread, and the same ones follow again", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_102_444_800_000 }),
        fc.integer({ min: 1, max: 30 }),
        (ms, steps) => {
          const first = newTid(ms);
          expect(laterTid(first, 0)).toBe(first);
          expect(laterTid(first, steps) > first).toBe(true);
          expect(laterTid(laterTid(first, 1), steps)).toBe(laterTid(first, steps + 1));
        },
      ),
    );
  });

  it("differ although they were made in one millisecond", () => {
    const keys = new Set(Array.from({ length: 500 }, () => newTid(1_795_251_600_000)));
    expect(keys.size).toBeGreaterThan(495);
  });
});
