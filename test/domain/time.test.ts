import { describe, expect, it } from "vitest";
import { toIso, toIsoOrNull } from "../../src/domain/time.ts";

describe("a moment as text", () => {
  it.each([
    [0, "1970-01-01T00:00:00.000Z"],
    [-1, "1969-12-31T23:59:59.999Z"],
    [1_795_251_600_007, "2026-11-21T09:00:00.007Z"],
  ])("has milliseconds and Z: %d ms", (ms, text) => {
    expect(toIso(ms)).toBe(text);
  });

  it.each([Number.NaN, Infinity, 8.64e15 + 1])("is none for %d ms", (ms) => {
    expect(() => toIso(ms)).toThrow(RangeError);
  });

  it("is null where there is none", () => {
    expect(toIsoOrNull(null)).toBeNull();
    expect(toIsoOrNull(0)).toBe("1970-01-01T00:00:00.000Z");
  });
});
