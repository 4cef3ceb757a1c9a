import { describe, expect, it } from "vitest";
import {
  fromWall,
  readWallTime,
  wallProblem,
  writeWallTime,
  yearProblem,
} from "../../../apps/shared/wall-time.ts";
import { createZone } from "../../../apps/shared/zone.ts";

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
    expect(wallProblem("")).toBe("Choose a day and a time.");
  });

  it.each(["0002", "0020", "0202", "1969", "2200", "2400", "9999", "12026", "202611"])(
    "is none in the year %s, which is being typed or a slip",
    (year) => {
      const text = `${year}-11-29T09:00`;
      expect(fromWall(text, createZone("Europe/Berlin"))).toBeNull();
      expect(wallProblem(text)).toBe("Give a year from 1970 to 2199.");
      expect(yearProblem(text.slice(0, -6))).toBe("Give a year from 1970 to 2199.");
    },
  );

  it.each(["1970", "2026", "2199"])("can be in the year %s", (year) => {
    expect(wallProblem(`${year}-11-29T09:00`)).toBeNull();
    expect(yearProblem(`${year}-11-29`)).toBeNull();
    expect(yearProblem("")).toBeNull();
  });
});
