import { describe, expect, it } from "vitest";
import {
  freeSlotsBetween,
  ScheduleInput,
  type SlotPlan,
  slotsBetween,
  UtmInput,
  WEEKDAYS,
} from "../../../src/domain/accounts/schedule.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";

function daily(timezone: string, ...times: string[]): SlotPlan {
  return { timezone, slots: [{ days: [...WEEKDAYS], times }], minGapMinutes: 0 };
}

const ms = (iso: string): number => Date.parse(iso);
const between = (plan: SlotPlan, from: string, to: string): string[] =>
  [...slotsBetween(plan, ms(from), ms(to))].map((at) => new Date(at).toISOString().slice(0, 16));

/** [zone, times, from, to, slots in UTC, why] */
const TABLE: readonly [string, string[], string, string, string[], string][] = [
  [
    "Europe/Berlin",
    ["01:30", "02:30", "03:00", "03:30"],
    "2027-03-27T23:00Z",
    "2027-03-28T21:59Z",
    ["2027-03-28T00:30", "2027-03-28T01:00", "2027-03-28T01:30"],
    "the skipped 02:30 falls on 03:00, and they are one slot",
  ],
  [
    "Europe/Berlin",
    ["02:30", "03:30"],
    "2026-10-24T22:00Z",
    "2026-10-25T22:59Z",
    ["2026-10-25T00:30", "2026-10-25T02:30"],
    "02:30 comes twice: the first alone",
  ],
  [
    "Europe/Berlin",
    ["09:30"],
    "2026-10-24T00:00Z",
    "2026-10-26T23:59Z",
    ["2026-10-24T07:30", "2026-10-25T08:30", "2026-10-26T08:30"],
    "the clock's 09:30 stays",
  ],
  [
    "Australia/Lord_Howe",
    ["02:15", "02:30"],
    "2026-10-03T14:00Z",
    "2026-10-04T12:59Z",
    ["2026-10-03T15:30"],
    "half an hour is skipped, and its end is one slot",
  ],
  [
    "Australia/Lord_Howe",
    ["01:45"],
    "2027-04-03T13:00Z",
    "2027-04-04T13:29Z",
    ["2027-04-03T14:45"],
    "half an hour comes twice: the first",
  ],
  [
    "Asia/Pyongyang",
    ["23:15", "23:45"],
    "2018-05-04T00:00Z",
    "2018-05-05T14:59Z",
    ["2018-05-04T14:45", "2018-05-04T15:00", "2018-05-05T14:15", "2018-05-05T14:45"],
    "the zone changed its offset for good",
  ],
  [
    "America/Sao_Paulo",
    ["00:00"],
    "2018-11-03T00:00Z",
    "2018-11-05T12:00Z",
    ["2018-11-03T03:00", "2018-11-04T03:00", "2018-11-05T02:00"],
    "midnight is skipped while the rule holds",
  ],
  [
    "America/Sao_Paulo",
    ["00:00"],
    "2019-11-02T12:00Z",
    "2019-11-04T12:00Z",
    ["2019-11-03T03:00", "2019-11-04T03:00"],
    "and not any more once it has ended",
  ],
  [
    "Pacific/Apia",
    ["10:00"],
    "2011-12-29T12:00Z",
    "2011-12-31T19:59Z",
    ["2011-12-29T20:00", "2011-12-30T10:00", "2011-12-30T20:00"],
    "a day that Samoa left out",
  ],
];

describe("slots", () => {
  it.each(TABLE)("%s %j from %s to %s: %j, %s", (zone, times, from, to, slots) => {
    expect(between(daily(zone, ...times), from, to)).toEqual(slots);
  });

  it("are on the days that are named, by the calendar of the zone", () => {
    const plan: SlotPlan = {
      timezone: "Pacific/Auckland",
      slots: [
        { days: ["mon"], times: ["08:00"] },
        { days: ["mon", "fri"], times: ["20:00", "08:00"] },
      ],
      minGapMinutes: 0,
    };
    expect(between(plan, "2026-11-22T00:00Z", "2026-11-28T23:59Z")).toEqual([
      "2026-11-22T19:00",
      "2026-11-23T07:00",
      "2026-11-26T19:00",
      "2026-11-27T07:00",
    ]);
  });

  it("include both ends of the time, and are none without times", () => {
    const plan = daily("UTC", "09:00");
    expect(between(plan, "2026-11-24T09:00Z", "2026-11-25T09:00Z")).toHaveLength(2);
    expect(between({ ...plan, slots: [] }, "2026-11-24T09:00Z", "2036-11-25T09:00Z")).toEqual([]);
  });

  it("never go back, in any zone, over years of clock changes", () => {
    const times = Array.from({ length: 6 }, (_, hour) => `${String(hour).padStart(2, "0")}:30`);
    for (const zone of [
      "Europe/London",
      "America/St_Johns",
      "Africa/Casablanca",
      "Asia/Tehran",
      "America/Havana",
    ]) {
      const all = [...slotsBetween(daily(zone, ...times), ms("2018-01-01"), ms("2021-01-01"))];
      expect(all.every((at, index) => index === 0 || at > (all[index - 1] ?? 0))).toBe(true);
      // Clocks change at night. A skipped time falls on the one after it.
      expect(Math.abs(all.length - 3 * 365.33 * 6)).toBeLessThan(24);
    }
  });
});

describe("free slots", () => {
  const plan = { ...daily("UTC", "09:00", "10:00", "11:00"), minGapMinutes: 60 };
  const after = ms("2026-11-24T08:00Z");
  const free = (minGapMinutes: number, ...taken: number[]): string[] =>
    [...freeSlotsBetween({ ...plan, minGapMinutes }, { after, until: after + 4 * HOUR, taken })].map((at) =>
      new Date(at).toISOString().slice(11, 16),
    );

  it("keep the gap to what waits, before and after", () => {
    const ten = after + 2 * HOUR;
    expect(free(0)).toEqual(["09:00", "10:00", "11:00"]);
    expect(free(0, ten)).toEqual(["09:00", "11:00"]);
    expect(free(0, ten + MINUTE)).toEqual(["09:00", "10:00", "11:00"]);
    expect(free(60, ten)).toEqual(["09:00", "11:00"]);
    expect(free(61, ten)).toEqual([]);
    expect(free(60, ten + MINUTE)).toEqual(["09:00"]);
    expect(free(60, after - DAY, after + 30 * MINUTE)).toEqual(["10:00", "11:00"]);
  });

  it("lie after the moment", () => {
    const [first] = freeSlotsBetween(plan, { after: ms("2026-11-24T09:00Z"), taken: [] });
    expect(first).toBe(ms("2026-11-24T10:00Z"));
  });
});

describe("what a caller gives", () => {
  const slots = [{ days: ["mon"], times: ["09:30"] }];
  it.each([
    [{ slots }, true],
    [{ slots: [], timezone: "Europe/Berlin", minGapMinutes: 30, paused: true }, true],
    [{ slots, timezone: "Mars/Olympus" }, false],
    [{ slots: [{ days: ["mo"], times: ["09:30"] }] }, false],
    [{ slots: [{ days: [], times: ["09:30"] }] }, false],
    [{ slots: [{ days: ["mon"], times: ["9:30"] }] }, false],
    [{ slots: [{ days: ["mon"], times: ["24:00"] }] }, false],
    [{ slots, minGapMinutes: -1 }, false],
    [{ slots, interval: 5 }, false],
  ])("%j is a schedule: %s", (given, isRight) => {
    expect(ScheduleInput.safeParse(given).success).toBe(isRight);
  });

  it.each([
    [{ source: "{provider}", campaign: "{label}-2027" }, true],
    [{ source: "{platform}" }, false],
    [{ content: "x" }, false],
  ])("%j is utm: %s", (given, isRight) => {
    expect(UtmInput.safeParse(given).success).toBe(isRight);
  });
});
