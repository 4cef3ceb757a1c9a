import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, toIso, toIsoOrNull } from "../../src/domain/time.ts";

function expectIso(ms: number): void {
  expect(toIso(ms)).toBe(new Date(ms).toISOString());
}

describe("a moment as text", () => {
  it("is what Date writes, for every moment that Date knows", () => {
    const anywhere = fc.date({ noInvalidDate: true }).map((date) => date.getTime());
    const near = fc.integer({ min: -3 * DAY, max: 3 * DAY });
    fc.assert(fc.property(fc.oneof(anywhere, near), expectIso), { numRuns: 20_000 });
  });

  it.each([0, -1, -0, DAY - 1, DAY, 0.9, -0.9, -1.5, 8.64e15, -8.64e15])(
    "is what Date writes for %d ms",
    (ms) => {
      expectIso(ms);
    },
  );

  it.each([Number.NaN, Infinity, 8.64e15 + 1])("is none for %d ms", (ms) => {
    expect(() => toIso(ms)).toThrow(RangeError);
  });

  it("stays the same over more days than are remembered", () => {
    for (let day = 0; day < 10_000; day += 1) expectIso(day * DAY);
  });

  it("is null where there is none", () => {
    expect(toIsoOrNull(null)).toBeNull();
    expect(toIsoOrNull(0)).toBe("1970-01-01T00:00:00.000Z");
  });
});
