import { describe, expect, it } from "vitest";
import { parseMoment, tellTime, toIso, toIsoOrNull } from "../../src/domain/time.ts";

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

it("is told to a person in their own zone", () => {
  const noon = Date.UTC(2026, 11, 1, 9);
  expect(tellTime(noon, "Europe/Berlin")).toBe("Tuesday 1 December 2026, 10:00 (Europe/Berlin)");
  expect(tellTime(noon, "Asia/Kathmandu")).toBe("Tuesday 1 December 2026, 14:45 (Asia/Kathmandu)");
  expect(tellTime(noon + 15 * 3_600_000, "UTC")).toBe("Wednesday 2 December 2026, 00:00 (UTC)");
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
    // The hour that comes twice in autumn: the offset says which.
    ["2026-10-25T02:30:00+02:00[Europe/Berlin]", "2026-10-25T00:30:00.000Z"],
    ["2026-10-25T02:30:00+01:00[Europe/Berlin]", "2026-10-25T01:30:00.000Z"],
  ])("%s is %s, without a warning", (text, iso) => {
    expect([toIso(read(text).ms), read(text).warning]).toEqual([iso, null]);
  });

  it("without offset and zone is read in the configured zone, and says so", () => {
    const { ms, warning } = read("2026-11-22T09:00:00");
    expect([toIso(ms), warning]).toEqual([
      "2026-11-22T00:00:00.000Z",
      expect.stringMatching(/^scheduledAt had no offset.*Asia\/Tokyo/),
    ]);
  });

  it.each([
    ["2026-11-22T09:00:00+25:00", /^scheduledAt: .*the offset "\+25:00"; offsets go from -18:00 to \+18:00/],
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
