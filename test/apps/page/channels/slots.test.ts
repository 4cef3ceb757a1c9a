import { describe, expect, it } from "vitest";
import {
  addTimes,
  countSlots,
  isSameWeek,
  neighbourOf,
  PRESETS,
  readTimes,
  removeTime,
  slotsOf,
  timesOf,
  type Week,
  weekOf,
} from "../../../../apps/page/rooms/channels/slots.ts";
import { ScheduleInput, type Schedule } from "../../../../src/domain/accounts/schedule.ts";

const SLOTS: Schedule["slots"] = [
  { days: ["mon", "wed"], times: ["17:30", "09:00"] },
  { days: ["wed", "sun"], times: ["09:00", "12:00"] },
];

describe("a week of slots", () => {
  it("has the times of each day in order, each once", () => {
    const week = weekOf(SLOTS);
    expect(timesOf(week, "mon")).toEqual(["09:00", "17:30"]);
    expect(timesOf(week, "wed")).toEqual(["09:00", "12:00", "17:30"]);
    expect(timesOf(week, "sun")).toEqual(["09:00", "12:00"]);
    expect(timesOf(week, "tue")).toEqual([]);
    expect(countSlots(week)).toBe(7);
  });

  it("becomes slots again, days with the same times together and in the order of the week", () => {
    const week = addTimes(weekOf(SLOTS), ["sat", "mon"], ["12:00"]);
    expect(slotsOf(week)).toEqual([
      { days: ["mon", "wed"], times: ["09:00", "12:00", "17:30"] },
      { days: ["sat"], times: ["12:00"] },
      { days: ["sun"], times: ["09:00", "12:00"] },
    ]);
    expect(isSameWeek(weekOf(slotsOf(week)), week)).toBe(true);
  });

  it("loses a time and its day with the last one", () => {
    const week: Week = { tue: ["10:00", "11:00"] };
    const less = removeTime(week, "tue", "10:00");
    expect(slotsOf(less)).toEqual([{ days: ["tue"], times: ["11:00"] }]);
    expect(slotsOf(removeTime(less, "tue", "11:00"))).toEqual([]);
    expect(isSameWeek(week, less)).toBe(false);
    expect(isSameWeek(removeTime(less, "tue", "11:00"), {})).toBe(true);
  });

  it("knows where the focus goes when a time is taken away", () => {
    const week: Week = { tue: ["10:00", "11:00", "12:00"], fri: ["10:00"] };
    expect(neighbourOf(week, "tue", "11:00")).toBe("12:00");
    expect(neighbourOf(week, "tue", "12:00")).toBe("11:00");
    expect(neighbourOf(week, "fri", "10:00")).toBeNull();
  });

  it.each(PRESETS.map(({ days, slots }) => [days, slots] as const))(
    "begins with %s, as the server takes it",
    (_days, slots) => {
      expect(ScheduleInput.parse({ slots: slotsOf(weekOf(slots)) }).slots).toEqual(slots);
    },
  );
});

describe("times that a person writes", () => {
  it.each([
    ["9, 17:30", ["09:00", "17:30"]],
    ["09:05 12.30; 23:59", ["09:05", "12:30", "23:59"]],
    ["0", ["00:00"]],
  ])("are read from %j", (text, times) => {
    expect(readTimes(text)).toEqual(times);
  });

  it.each(["", " , ", "24", "9:60", "9 am", "nine", "9:5"])("are not read from %j", (text) => {
    expect(readTimes(text)).toBeNull();
  });
});
