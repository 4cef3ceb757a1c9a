import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { addDays, addMonths, createZone, daysShown, startOfWeek } from "../../../apps/shared/zone.ts";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Pacific/Auckland",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "America/St_Johns",
  "Africa/Casablanca",
];
const YEARS = { min: Date.UTC(1980, 0, 1), max: Date.UTC(2100, 0, 1) };

describe("the calendar's zones", () => {
  it("read moments as luxon does", () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.integer(YEARS), (name, ms) => {
        const wall = DateTime.fromMillis(ms, { zone: name });
        expect(createZone(name).read(ms)).toEqual({
          day: wall.toISODate(),
          minutes: wall.hour * 60 + wall.minute,
        });
      }),
    );
  });

  it("find a moment that reads as it was written, or follows a gap that clocks leave out", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer(YEARS),
        fc.integer({ min: 0, max: 24 * 60 - 1 }),
        (name, ms, minutes) => {
          const zone = createZone(name);
          const { day } = zone.read(ms);
          const wall = DateTime.fromISO(`${day}T00:00:00`, { zone: "UTC" }).plus({ minutes });
          const wanted = DateTime.fromISO(wall.toFormat("yyyy-MM-dd'T'HH:mm:ss"), { zone: name });
          const found = zone.toMs({ day, minutes });
          const read = zone.read(found);
          if (wanted.toFormat("HH:mm") === wall.toFormat("HH:mm")) expect(read).toEqual({ day, minutes });
          else expect(found).toBe(wanted.toMillis());
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    // Clocks go from 2:00 to 3:00, and in autumn from 3:00 back to 2:00.
    ["Europe/Berlin", "2027-03-28", 150, "2027-03-28T01:30:00.000Z"],
    ["Europe/Berlin", "2027-10-31", 150, "2027-10-31T00:30:00.000Z"],
    ["America/New_York", "2027-03-14", 150, "2027-03-14T07:30:00.000Z"],
    ["Pacific/Auckland", "2027-09-26", 540, "2027-09-25T20:00:00.000Z"],
  ])("keep to clock changes: %s %s", (name, day, minutes, iso) => {
    expect(new Date(createZone(name).toMs({ day, minutes })).toISOString()).toBe(iso);
  });
});

describe("the calendar's days", () => {
  it("go over ends of months and years", () => {
    expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
    expect(addDays("2028-03-01", -1)).toBe("2028-02-29");
    expect(addMonths("2027-01-31", 1)).toBe("2027-02-28");
    expect(addMonths("2026-11-15", -11)).toBe("2025-12-15");
  });

  it("begin weeks where the place does", () => {
    expect(startOfWeek("2026-11-22", 1)).toBe("2026-11-16");
    expect(startOfWeek("2026-11-22", 7)).toBe("2026-11-22");
  });

  it("are whole weeks around a month, or one week", () => {
    const month = daysShown("month", "2027-02-10", 1);
    expect([month.length, month[0], month.at(-1)]).toEqual([28, "2027-02-01", "2027-02-28"]);
    expect(daysShown("month", "2026-11-30", 7)).toHaveLength(35);
    expect(daysShown("month", "2026-08-15", 1)).toHaveLength(42);
    expect(daysShown("week", "2026-11-30", 1)).toEqual([
      "2026-11-30",
      "2026-12-01",
      "2026-12-02",
      "2026-12-03",
      "2026-12-04",
      "2026-12-05",
      "2026-12-06",
    ]);
  });
});
