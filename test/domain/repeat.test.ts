import { describe, expect, it } from "vitest";
import { aheadOf, occurrencesOf, readSeries, type RepeatInput } from "../../src/domain/drafts/repeat.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

function first(input: Omit<RepeatInput, "every"> & { every?: number }, count: number): string[] {
  const series = readSeries({ every: 1, ...input }, { now: NOW, timezone: "UTC" });
  const found: string[] = [];
  for (const { at } of occurrencesOf(series)) {
    if (found.length === count) break;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe("a series", () => {
  it("comes on the last day of shorter months", () => {
    expect(first({ unit: "month", time: "09:00", from: "2027-01-31" }, 4)).toEqual([
      "2027-01-31T09:00",
      "2027-02-28T09:00",
      "2027-03-31T09:00",
      "2027-04-30T09:00",
    ]);
    expect(first({ unit: "year", time: "09:00", from: "2028-02-29" }, 2)).toEqual([
      "2028-02-29T09:00",
      "2029-02-28T09:00",
    ]);
  });

  it("comes on days of each second week, from the first day on", () => {
    const rule = { unit: "week", every: 2, days: ["fri", "mon"], time: "18:30", from: "2026-11-25" } as const;
    expect(first({ ...rule, days: [...rule.days] }, 4)).toEqual([
      "2026-11-27T18:30",
      "2026-12-07T18:30",
      "2026-12-11T18:30",
      "2026-12-21T18:30",
    ]);
    expect(first({ unit: "week", time: "08:00", from: "2026-11-25" }, 2)).toEqual([
      "2026-11-25T08:00",
      "2026-12-02T08:00",
    ]);
  });

  it("ends after its last day, or after so many times", () => {
    const rule = { unit: "day", time: "09:00", from: "2026-11-25" } as const;
    expect(first({ ...rule, until: "2026-11-26" }, 9)).toHaveLength(2);
    expect(first({ ...rule, times: 3 }, 9)).toHaveLength(3);
  });

  it("keeps the clock's time when the clocks change", () => {
    const rule = { unit: "day", time: "02:30", timezone: "Europe/Berlin", from: "2027-03-27" } as const;
    expect(first(rule, 3)).toEqual(["2027-03-27T01:30", "2027-03-28T01:00", "2027-03-29T00:30"]);
  });

  it("is made ahead for two weeks, and at least the next time", () => {
    const near = { now: NOW, timezone: "UTC" };
    const daily = readSeries({ every: 1, unit: "day", time: "09:00" }, near);
    expect(aheadOf(daily, NOW)).toHaveLength(14);
    const yearly = readSeries({ every: 1, unit: "year", time: "09:00" }, near);
    expect(aheadOf(yearly, NOW).map(({ number }) => number)).toEqual([0]);
    expect(aheadOf({ ...daily, until: "2026-11-21" }, NOW)).toEqual([]);
  });
});

it("begins with its first text where today's time is over, and keeps the day of a month", () => {
  const now = Date.parse("2026-11-27T09:52:00Z");
  const first = (input: Omit<RepeatInput, "every">) => {
    const series = readSeries({ every: 1, ...input }, { now, timezone: "UTC" });
    const [next] = aheadOf(series, now);
    return [series.from, next?.number, next && new Date(next.at).toISOString().slice(0, 10)];
  };
  expect(first({ unit: "day", time: "06:00" })).toEqual(["2026-11-28", 0, "2026-11-28"]);
  expect(first({ unit: "day", time: "18:00" })).toEqual(["2026-11-27", 0, "2026-11-27"]);
  expect(first({ unit: "week", time: "06:00" })).toEqual(["2026-12-04", 0, "2026-12-04"]);
  expect(first({ unit: "week", days: ["mon", "fri"], time: "06:00" })).toEqual([
    "2026-11-30",
    0,
    "2026-11-30",
  ]);
  expect(first({ unit: "week", days: ["mon"], time: "06:00" })).toEqual(["2026-11-27", 0, "2026-11-30"]);
  expect(first({ unit: "month", time: "06:00" })).toEqual(["2026-12-27", 0, "2026-12-27"]);
  expect(first({ unit: "month", time: "18:00" })).toEqual(["2026-11-27", 0, "2026-11-27"]);
  expect(first({ unit: "year", time: "06:00" })).toEqual(["2027-11-27", 0, "2027-11-27"]);
  // Somebody who names the day means it, and the first text is that of the first post.
  expect(first({ unit: "day", time: "06:00", from: "2026-11-27" })).toEqual(["2026-11-27", 0, "2026-11-28"]);
});

it.each([
  ["month", "2027-01-31", ["2027-02-28", "2027-03-31", "2027-04-30"]],
  ["year", "2028-02-29", ["2029-02-28", "2030-02-28", "2031-02-28"]],
] as const)("saved on the last day, comes on the last day of a shorter %s", (unit, day, days) => {
  const now = Date.parse(`${day}T12:00:00Z`);
  const series = readSeries({ every: 1, unit, time: "09:00" }, { now, timezone: "UTC" });
  const found = [...occurrencesOf({ ...series, times: 3 }, { begun: now })];
  expect(found.map(({ at }) => new Date(at).toISOString().slice(0, 10))).toEqual(days);
  expect(found.map(({ number }) => number)).toEqual([0, 1, 2]);
});

it("counts from its approval on, and goes on counting from there", () => {
  const near = { now: NOW, timezone: "UTC" };
  const series = readSeries({ every: 1, unit: "day", time: "09:00", from: "2026-11-01", times: 20 }, near);
  const later = NOW + 10 * 86_400_000;
  const [next] = aheadOf(series, later, NOW);
  expect(next).toEqual({ number: 10, at: Date.parse("2026-12-02T09:00:00Z") });
  expect(aheadOf(series, later, NOW)).toHaveLength(10);
});
