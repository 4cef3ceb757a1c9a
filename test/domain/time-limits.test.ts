import { describe, expect, it } from "vitest";
import { MUST_BE_SHORTER, TIME_LIMITS } from "../../src/domain/time-limits.ts";

describe("the time limits that meet", () => {
  it.each(MUST_BE_SHORTER.map((pair) => [`${pair.sum.join(" + ")} < ${pair.than}: ${pair.because}`, pair]))(
    "%s",
    (_name, { sum, than }) => {
      const total = sum.reduce((ms, limit) => ms + TIME_LIMITS[limit], 0);
      expect(total).toBeLessThan(TIME_LIMITS[than]);
    },
  );
});
