import { describe, expect, it } from "vitest";
import { atWallTime, readWallClock } from "../../src/domain/wall-clock.ts";

/** [zone, date, time, UTC, why] */
const TABLE = [
  ["Europe/Berlin", "2026-11-21", "09:30", "2026-11-21T08:30:00Z", "an ordinary day"],
  ["Europe/Berlin", "2027-03-28", "01:59", "2027-03-28T00:59:00Z", "the minute before the clocks go forward"],
  ["Europe/Berlin", "2027-03-28", "02:00", "2027-03-28T01:00:00Z", "the first skipped minute"],
  ["Europe/Berlin", "2027-03-28", "02:30", "2027-03-28T01:00:00Z", "skipped: the first minute after"],
  ["Europe/Berlin", "2027-03-28", "03:00", "2027-03-28T01:00:00Z", "the first minute after"],
  ["Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T00:30:00Z", "comes twice: the first"],
  ["Europe/Berlin", "2026-10-25", "03:00", "2026-10-25T02:00:00Z", "after both"],
  ["America/New_York", "2027-03-14", "02:15", "2027-03-14T07:00:00Z", "skipped"],
  ["America/New_York", "2026-11-01", "01:15", "2026-11-01T05:15:00Z", "twice"],
  ["Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03T15:30:00Z", "half an hour is skipped"],
  ["Australia/Lord_Howe", "2026-10-04", "02:30", "2026-10-03T15:30:00Z", "half an hour was skipped"],
  [
    "Australia/Lord_Howe",
    "2027-04-04",
    "01:45",
    "2027-04-03T14:45:00Z",
    "half an hour comes twice: the first",
  ],
  ["Pacific/Apia", "2011-12-30", "10:00", "2011-12-30T10:00:00Z", "a day that Samoa left out"],
  ["Asia/Pyongyang", "2018-05-04", "23:45", "2018-05-04T15:00:00Z", "a zone that changed its offset by rule"],
  ["Africa/Casablanca", "2026-02-15", "02:30", "2026-02-15T01:30:00Z", "Ramadan: an hour comes twice"],
  ["America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T03:00:00Z", "midnight is skipped"],
  ["America/Sao_Paulo", "2026-11-01", "00:00", "2026-11-01T03:00:00Z", "the rule has ended"],
  ["Asia/Kathmandu", "2026-11-21", "09:00", "2026-11-21T03:15:00Z", "a quarter of an hour"],
  ["UTC", "2026-11-21", "09:00", "2026-11-21T09:00:00Z", "UTC"],
] as const;

describe("wall clock", () => {
  it.each(TABLE)("%s %s %s is %s: %s", (zone, date, time, utc) => {
    expect(atWallTime({ date, time }, zone)).toBe(Date.parse(utc));
  });

  it("reads what it shows", () => {
    expect(readWallClock(Date.parse("2026-12-31T23:30:00Z"), "Europe/Berlin")).toEqual({
      date: "2027-01-01",
      time: "00:30",
    });
  });

  it("refuses what no calendar holds", () => {
    expect(() => atWallTime({ date: "2026-02-30", time: "09:00" }, "UTC")).toThrow(RangeError);
    expect(() => atWallTime({ date: "2026-02-28", time: "09:00" }, "Nowhere/City")).toThrow(RangeError);
  });
});
