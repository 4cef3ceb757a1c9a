import { describe, expect, it } from "vitest";
import {
  inWords,
  listed,
  newRepeat,
  readRepeat,
  repeatOf,
  repeatProblems,
} from "../../../../apps/page/rooms/write/repeat.ts";
import { Repeat } from "../../../../src/domain/drafts/repeat.ts";

const weekly = newRepeat("2026-11-27", "Europe/Berlin");

describe("a series as a form", () => {
  it("begins as a week on the day's own weekday", () => {
    expect(weekly.days).toEqual(["fri"]);
    expect(repeatProblems(weekly)).toEqual([]);
  });

  it("comes back as it was", () => {
    const series = {
      every: 2,
      unit: "week",
      days: ["mon", "fri"],
      time: "17:30",
      timezone: "Europe/Berlin",
      from: "2026-11-27",
      times: 12,
      texts: ["a", "b"],
    } as const;
    expect(repeatOf(readRepeat(series as never))).toEqual(series);
    const monthly = {
      every: 1,
      unit: "month",
      time: "09:00",
      timezone: "UTC",
      from: "2026-01-31",
      until: "2026-12-31",
    };
    expect(repeatOf(readRepeat(monthly as never))).toEqual(monthly);
  });

  it("is what the server takes", () => {
    for (const form of [
      weekly,
      { ...weekly, unit: "year" as const },
      { ...weekly, end: "until" as const, until: "2027-01-01" },
      { ...weekly, end: "times" as const, times: "3", texts: ["a", " "] },
    ])
      expect(Repeat.safeParse(repeatOf(form)).error).toBeUndefined();
  });

  it.each([
    [{ every: "" }, "every"],
    [{ every: "1.5" }, "every"],
    [{ every: "367" }, "every"],
    [{ days: [] }, "days"],
    [{ time: "" }, "time"],
    [{ from: "" }, "from"],
    [{ end: "until" as const, until: "" }, "until"],
    [{ end: "until" as const, until: "2026-11-26" }, "until"],
    [{ end: "times" as const, times: "0" }, "times"],
  ])("says what is wrong with %o", (change, field) => {
    expect(repeatProblems({ ...weekly, ...change }).map((one) => one.field)).toEqual([field]);
  });

  it("forgets what does not belong to its end", () => {
    expect(repeatProblems({ ...weekly, times: "", until: "" })).toEqual([]);
    expect(repeatOf({ ...weekly, until: "2027-01-01" })).not.toHaveProperty("until");
  });

  it("is told in words", () => {
    const clock = (time: string): string => `${time} by the clock`;
    expect(inWords({ ...weekly, every: "2", days: ["fri", "mon"] }, clock)).toBe(
      "Every 2 weeks on Monday and Friday at 09:00 by the clock",
    );
    expect(inWords({ ...weekly, unit: "day" }, clock)).toBe("Every day at 09:00 by the clock");
  });
});

it("lists words", () => {
  expect(listed([])).toBe("");
  expect(listed(["a"])).toBe("a");
  expect(listed(["a", "b", "c"])).toBe("a, b and c");
});
