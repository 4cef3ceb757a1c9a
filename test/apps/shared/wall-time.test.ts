import { describe, expect, it } from "vitest";
import { readWallTime, writeWallTime } from "../../../apps/shared/wall-time.ts";

describe("the time in a field", () => {
  it("is read as it is written", () => {
    const time = { day: "2026-11-24", minutes: 545 };
    expect(writeWallTime(time)).toBe("2026-11-24T09:05");
    expect(readWallTime("2026-11-24T09:05")).toEqual(time);
    expect(readWallTime("2026-11-24T09:05:30")).toEqual(time);
  });

  it("is none where something is missing", () => {
    expect(readWallTime("")).toBeNull();
    expect(readWallTime("2026-11-24")).toBeNull();
  });
});
