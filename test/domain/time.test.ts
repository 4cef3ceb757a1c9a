import { Settings } from "luxon";
import { describe, expect, it } from "vitest";
import {
  isTimezone,
  machineTimezone,
  formatTime,
  describeTry,
  toIso,
  toIsoOrNull,
  toZoned,
} from "../../src/domain/time.ts";
import { parseMoment, warningsOf, parseBound } from "../../src/domain/parse-time.ts";

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

  it.each([
    ["UTC", "2026-11-21T09:00Z"],
    ["Europe/Berlin", "2026-11-21T10:00+01:00"],
    ["America/St_Johns", "2026-11-21T05:30-03:30"],
  ])("is as the clocks show it, to the minute, in %s", (zone, text) => {
    expect(toZoned(1_795_251_600_007, zone)).toBe(text);
  });

  it("is in a zone that there is, whatever the machine's is called", () => {
    expect(isTimezone(machineTimezone())).toBe(true);
    expect(["", "Mars/Olympus", "Etc/Unknown"].map(isTimezone)).toEqual([false, false, false]);
  });
});

it("is told to a person in their own zone", () => {
  const noon = Date.UTC(2026, 11, 1, 9);
  expect(formatTime(noon, "Europe/Berlin")).toBe("Tuesday 1 December 2026, 10:00 (Europe/Berlin)");
  expect(formatTime(noon, "Asia/Kathmandu")).toBe("Tuesday 1 December 2026, 14:45 (Asia/Kathmandu)");
  // What is tried is told to the second where it is near, and never later than it is.
  const tries = [119_999, 120_000, 179_999].map((ms) =>
    describeTry(noon + ms, { now: noon, timezone: "UTC" }),
  );
  expect(tries).toEqual([
    "Tuesday 1 December 2026, 09:01:59 (UTC)",
    "Tuesday 1 December 2026, 09:02 (UTC)",
    "Tuesday 1 December 2026, 09:02 (UTC)",
  ]);
  expect(formatTime(noon + 15 * 3_600_000, "UTC")).toBe("Wednesday 2 December 2026, 00:00 (UTC)");
});

describe("a moment that a caller gives", () => {
  const read = (text: string) => parseMoment("scheduledAt", text, "Asia/Tokyo");

  it.each([
    ["2026-11-22T09:00:00Z", "2026-11-22T09:00:00.000Z"],
    ["2026-11-22T09:00:00-00:00", "2026-11-22T09:00:00.000Z"],
    ["2026-11-22t09:00:00z", "2026-11-22T09:00:00.000Z"],
    ["2026-11-22 09:00+01", "2026-11-22T08:00:00.000Z"],
    ["2026-11-22T09:00:00.25-0330", "2026-11-22T12:30:00.250Z"],
    ["2026-11-22T09:00:00+14:00", "2026-11-21T19:00:00.000Z"],
    ["2026-11-22T09:00:00+18:00", "2026-11-21T15:00:00.000Z"],
    ["2026-11-22T09:00:00-18:00", "2026-11-23T03:00:00.000Z"],
    ["2026-11-22T09:00:00+01:00[Europe/Berlin]", "2026-11-22T08:00:00.000Z"],
    ["2026-11-22T09:00:00Z[Europe/Berlin]", "2026-11-22T09:00:00.000Z"],
    ["2026-11-22T09:00:00[Europe/Berlin]", "2026-11-22T08:00:00.000Z"],
    ["2026-11-22T09:00:00+01:00[!Europe/Berlin]", "2026-11-22T08:00:00.000Z"],
    ["2026-11-22T09:00:00+01:00[Europe/Berlin][u-ca=gregory]", "2026-11-22T08:00:00.000Z"],
    // The hour that comes twice in autumn: the offset says which.
    ["2026-10-25T02:30:00+02:00[Europe/Berlin]", "2026-10-25T00:30:00.000Z"],
    ["2026-10-25T02:30:00+01:00[Europe/Berlin]", "2026-10-25T01:30:00.000Z"],
  ])("%s is %s, without a warning", (text, iso) => {
    expect([toIso(read(text).ms), read(text).warning]).toEqual([iso, null]);
  });

  it("without offset and zone is read in the configured zone, and names it", () => {
    const { ms, ...told } = read("2026-11-22T09:00:00");
    expect(toIso(ms)).toBe("2026-11-22T00:00:00.000Z");
    expect(told).toEqual({
      warning: null,
      zoneTaken: "scheduledAt has no offset. It was read as Asia/Tokyo.",
    });
    expect(warningsOf({ tellsZone: true }, told)).toEqual([told.zoneTaken]);
    expect(warningsOf({ tellsZone: false }, told)).toEqual([]);
  });

  it.each([
    ["20260131T090000Z", "2026-01-31T09:00:00.000Z"],
    ["20260131T0900+0100", "2026-01-31T08:00:00.000Z"],
    ["20260131T090000.5", "2026-01-31T00:00:00.500Z"],
    ["2026-01-31 09:00:00 +01:00", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T09:00 Z", "2026-01-31T09:00:00.000Z"],
    ["2026-01-31 9:00", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T9:00:30+01:00", "2026-01-31T08:00:30.000Z"],
    [" 2026-01-31 9:00 [Europe/Berlin] ", "2026-01-31T08:00:00.000Z"],
  ])("is taken as other programs write it: %s", (text, iso) => {
    expect(toIso(read(text).ms)).toBe(iso);
  });

  it.each([
    "2026-0131T09:00",
    "202601-31T09:00",
    "20260131T900",
    "2026-01-31 900",
    "2026-01-31T9",
    "20260131",
  ])("has no form between those: %s", (text) =>
    expect(() => read(text)).toThrow(/^scheduledAt: "\d.* is not a date and time\.$/),
  );

  it.each(["", " ", "\t\n", "\u00a0"])("is refused where it is empty: %j", (text) => {
    expect(() => read(text)).toThrow("scheduledAt: is empty. Give a time such as 2031-01-30T09:00.");
  });

  it("is told that its day does not exist", () => {
    expect(() => read(" 2026-02-30 9:00")).toThrow(
      'scheduledAt: " 2026-02-30 9:00" is not a date: that month has 28 days. Give another day.',
    );
  });

  it.each([
    ["31.11.2026", 30],
    ["31.11.2026 9:00", 30],
    ["2026-02-30", 28],
    ["20260230T0900", 28],
  ])("is told so in whatever digits it is written: %s", (text, days) => {
    const sentence = `${JSON.stringify(text)} is not a date: that month has ${days} days. Give another day.`;
    expect(() => read(text)).toThrow(`scheduledAt: ${sentence}`);
    expect(() => parseBound("from", text, "UTC", false)).toThrow(`from: ${sentence}`);
  });

  it.each(["now", " Right now", "ASAP"])("is told what to do for now: %s", (text) => {
    expect(() => read(text)).toThrow(
      "is not a date and time. To publish a new post now, leave it out. Else give the time that it is.",
    );
  });

  it("is a day where one chooses, and nothing of it is asked for a day", () => {
    expect(() => parseBound("from", " ", "UTC", false)).toThrow(
      "from: is empty. Give a date such as 2031-01-30.",
    );
  });

  it.each(["2026-13-40 12:00", "2026-01-31T25:00[Asia/Tokyo]", "soon"])(
    "is quoted as it was given, and no offset is asked for: %j",
    (text) => {
      expect(() => read(text)).toThrow(`scheduledAt: ${JSON.stringify(text)} is not a date and time.`);
      expect(() => read("2026-01-31")).toThrow(
        'scheduledAt: "2026-01-31" has no time of day. Give it too: 2026-01-31T09:00.',
      );
    },
  );

  it.each([
    [
      "2027-03-28T02:30",
      "2027-03-28T01:30:00.000Z",
      "scheduledAt: there is no 2027-03-28T02:30 in Europe/Berlin, because the clocks go forward then. 2027-03-28T03:30+02:00 was taken. Give another time if that was not meant.",
    ],
    [
      "2026-10-25T02:30",
      "2026-10-25T00:30:00.000Z",
      "scheduledAt: 2026-10-25T02:30 comes twice in Europe/Berlin, because the clocks go back then. The first, 2026-10-25T02:30+02:00, was taken. Give 2026-10-25T02:30+01:00 for the other one.",
    ],
    // Half an hour is put back there.
    [
      "2026-04-05T01:45:30[Australia/Lord_Howe]",
      "2026-04-04T14:45:30.000Z",
      "scheduledAt: 2026-04-05T01:45 comes twice in Australia/Lord_Howe, because the clocks go back then. The first, 2026-04-05T01:45+11:00, was taken. Give 2026-04-05T01:45+10:30 for the other one.",
    ],
  ])("%s, which clocks show never or twice, is %s, and says so", (text, iso, warning) => {
    const taken = parseMoment("scheduledAt", text, "Europe/Berlin");
    expect([toIso(taken.ms), taken.warning]).toEqual([iso, warning]);
  });

  // The offset that holds today must not matter.
  it.each(["2026-10-25T02:00", "2026-10-25T02:59:59.999", "2026-03-29T02:00", "2026-03-29T02:59"])(
    "%s is the same in summer and in winter",
    (text) => {
      const read = (): number => parseMoment("scheduledAt", text, "Europe/Berlin").ms;
      const now = Settings.now;
      try {
        Settings.now = () => Date.UTC(2026, 0, 1);
        const inWinter = read();
        Settings.now = () => Date.UTC(2026, 6, 1);
        expect(read()).toBe(inWinter);
      } finally {
        Settings.now = now;
      }
    },
  );

  it("is refused at once when it is endless", () => {
    expect(() => read(`2026-11-22T09:00${"[".repeat(1_000_000)}`)).toThrow(/is not a date and time/);
  });

  it.each([
    ["2026-11-22T09:00:00+25:00", /^scheduledAt: .*the offset "\+25:00"\. Offsets go from -18:00 to \+18:00/],
    ["2026-11-22T09:00:00+26:00", /the offset "\+26:00"/],
    ["2026-11-22T09:00:00+18:01", /the offset "\+18:01"/],
    ["2026-11-22T09:00:00-1830", /the offset "-1830"/],
    ["2026-11-22T09:00:00+24:00", /the offset "\+24:00"/],
    ["2026-11-22T09:00:00+05:60", /the offset "\+05:60"/],
    ["2026-11-22T09:00:00+1:00", /is not a date and time/],
    ["2026-11-22T09:00:00+010", /is not a date and time/],
    ["2026-11-22T09:00:00+01:00:00", /is not a date and time/],
    ["2026-11-22T09:00:00Z+01:00", /is not a date and time/],
    ["2026-11-22T09:00:00\u221205:00", /is not a date and time/],
    ["2026-11-22T09:00:00-19", /the offset "-19"/],
    ["2026-11-22T09:00:00+01:60", /the offset "\+01:60"/],
    ["2026-11-22T09:00:00+01:99[Europe/Berlin]", /the offset "\+01:99"/],
    ["2026-11-22T09:00:00+02:00[Europe/Berlin]", /contradicts itself: Europe\/Berlin is at \+01:00 then/],
    ["2026-11-22T09:00:00+01:00[Mars/Olympus]", /is not a date and time/],
    ["2026-11-22T09:00:00+1:00", /is not a date and time/],
    ["2026-11-22T09:00:00+01:00:30", /is not a date and time/],
    ["2026-11-22T09:00:00Z+01:00", /is not a date and time/],
    ["2026-11-22T09:00:00[]", /is not a date and time/],
  ])("%s is refused", (text, sentence) => {
    expect(() => read(text)).toThrow(sentence);
  });
});
