import { describe, expect, it } from "vitest";
import { meantBound, meantDay, meantMoment } from "../../../src/domain/arguments/meant-times.ts";
import { readBound, readDate, readWhen } from "../../../src/domain/arguments/spoken-times.ts";

const BERLIN = "Europe/Berlin";
/** A Sunday, 14:30 in Berlin. */
const NOW = Date.UTC(2026, 10, 22, 13, 30);

describe("when a post shall go out, as people say it", () => {
  const read = (text: string, timezone = BERLIN) => readWhen(text, { now: NOW, timezone });

  it.each([
    ["now", null],
    ["tomorrow 9:00", "2026-11-23T09:00[Europe/Berlin]"],
    ["Tomorrow at 9", "2026-11-23T09:00[Europe/Berlin]"],
    ["  tomorrow   9.15 pm ", "2026-11-23T21:15[Europe/Berlin]"],
    ["today 18:00", "2026-11-22T18:00[Europe/Berlin]"],
    ["today 12am", "2026-11-22T00:00[Europe/Berlin]"],
    ["today 12pm", "2026-11-22T12:00[Europe/Berlin]"],
    ["friday 18:30", "2026-11-27T18:30[Europe/Berlin]"],
    ["Fri, 18:30", "2026-11-27T18:30[Europe/Berlin]"],
    // Today if there is time left, else in a week.
    ["sunday 14:31", "2026-11-22T14:31[Europe/Berlin]"],
    ["sunday 14:30", "2026-11-29T14:30[Europe/Berlin]"],
    ["at 14:31", "2026-11-22T14:31[Europe/Berlin]"],
    ["9am", "2026-11-23T09:00[Europe/Berlin]"],
    ["in 2 hours", "2026-11-22T15:30:00.000Z"],
    ["in 90 min", "2026-11-22T15:00:00.000Z"],
    ["in 1 week", "2026-11-29T13:30:00.000Z"],
    // The clocks are put forward in between; the time of day stays.
    ["in 180 days", "2027-05-21T12:30:00.000Z"],
    // A Sunday's next week begins tomorrow.
    ["next friday 17:30", "2026-11-27T17:30[Europe/Berlin]"],
    ["next monday", "2026-11-23T09:00[Europe/Berlin]"],
    ["monday", "2026-11-23T09:00[Europe/Berlin]"],
    ["on thurs at noon", "2026-11-26T12:00[Europe/Berlin]"],
    ["this friday 9", "2026-11-27T09:00[Europe/Berlin]"],
    ["5pm friday", "2026-11-27T17:00[Europe/Berlin]"],
    ["tomorrow", "2026-11-23T09:00[Europe/Berlin]"],
    ["noon", "2026-11-23T12:00[Europe/Berlin]"],
    ["tonight", "2026-11-22T20:00[Europe/Berlin]"],
    ["tonight at 9", "2026-11-22T21:00[Europe/Berlin]"],
    ["tonight 19:30", "2026-11-22T19:30[Europe/Berlin]"],
    ["2026-12-25", "2026-12-25T09:00[Europe/Berlin]"],
    ["25.12.2026 9:00", "2026-12-25T09:00[Europe/Berlin]"],
    ["5.1.2027", "2027-01-05T09:00[Europe/Berlin]"],
    ["Thursday, December 3 at 9am", "2026-12-03T09:00[Europe/Berlin]"],
    ["Thursday 3 December 9:00", "2026-12-03T09:00[Europe/Berlin]"],
    ["Thu. 3rd of Dec 2026, 9:00", "2026-12-03T09:00[Europe/Berlin]"],
    ["jan 5", "2027-01-05T09:00[Europe/Berlin]"],
    ["Jan. 5th at 18:30", "2027-01-05T18:30[Europe/Berlin]"],
    ["january 5 9:00", "2027-01-05T09:00[Europe/Berlin]"],
    ["5 January 2027 18:00", "2027-01-05T18:00[Europe/Berlin]"],
    ["january 5, 2028", "2028-01-05T09:00[Europe/Berlin]"],
    ["the 5th of december at 9pm", "2026-12-05T21:00[Europe/Berlin]"],
    ["9:00 5 dec", "2026-12-05T09:00[Europe/Berlin]"],
    // Today, before and after that time.
    ["22 nov 15:00", "2026-11-22T15:00[Europe/Berlin]"],
    ["nov 22", "2027-11-22T09:00[Europe/Berlin]"],
    ["+2h", "2026-11-22T15:30:00.000Z"],
    ["in an hour", "2026-11-22T14:30:00.000Z"],
    ["2026-12-01 9:00", "2026-12-01T09:00[Europe/Berlin]"],
    ["2026-12-01 at 9pm", "2026-12-01T21:00[Europe/Berlin]"],
    ["2026-12-01T09:00", "2026-12-01T09:00"],
    ["2026-12-01T09:00:30.5", "2026-12-01T09:00:30.5"],
    ["2026-12-01T09:00:00+02:00", "2026-12-01T09:00:00+02:00"],
    ["2026-12-01 09:00:00Z", "2026-12-01 09:00:00Z"],
    ["2026-12-01T09:00[Asia/Tokyo]", "2026-12-01T09:00[Asia/Tokyo]"],
  ])("%j is %j", (text, when) => {
    expect(read(text)).toBe(when);
  });

  it("is in next week where that is said", () => {
    const wednesday = { now: Date.UTC(2026, 10, 25, 12), timezone: BERLIN };
    expect(readWhen("friday", wednesday)).toBe("2026-11-27T09:00[Europe/Berlin]");
    expect(readWhen("next friday", wednesday)).toBe("2026-12-04T09:00[Europe/Berlin]");
    expect(readWhen("next monday", wednesday)).toBe("2026-11-30T09:00[Europe/Berlin]");
  });

  it.each(["25/12/2026", "12/11/2026 9:00", "3/4 9:00"])("%j is not guessed at", (text) => {
    expect(() => read(text)).toThrow(
      /^--at: .* has a date with slashes, .* Write 2031-12-25 or 25\.12\.2031\.$/,
    );
  });

  it("counts days by the clock on the wall", () => {
    const lateInTokyo = { now: Date.UTC(2026, 10, 22, 16), timezone: "Asia/Tokyo" };
    expect(readWhen("tomorrow 9:00", lateInTokyo)).toBe("2026-11-24T09:00[Asia/Tokyo]");
    expect(read("tomorrow 9:00", "America/St_Johns")).toBe("2026-11-23T09:00[America/St_Johns]");
  });

  it.each(["2026-02-30", "30.2.2027", "31.2.2027 9:00", "2026-13-01 9:00", "feb 30", "9:00 31 june"])(
    "%j is a day that is not there, and the sentence says so",
    (text) => {
      expect(() => read(text)).toThrow(`--at: ${JSON.stringify(text)} names a day that no calendar has.`);
    },
  );

  it.each([
    "",
    "soon",
    "january",
    "5 foo",
    "jan 5 feb",
    "9",
    "next",
    "next week",
    "fr 9:00",
    "tonight 2pm",
    "midnight",
    "25.12. 9:00",
    "+2",
    "noon noon",
    "tomorrow 25:00",
    "tomorrow 9:60",
    "today 13pm",
    "someday 9:00",
    "frisday 9:00",
    "in two hours",
    "in 2 fortnights",
    "1764579600000",
    `in ${"9".repeat(5)} hours`,
  ])("%j is none, and the sentence has examples", (text) => {
    expect(() => read(text)).toThrow(
      /^--at: .* is not a time. Give for example "tomorrow 9:00", "friday 18:30"/,
    );
  });
});

describe("a day, as people say it", () => {
  const read = (text: string) => readDate(text, { now: NOW, timezone: BERLIN, field: "--to-day" });

  it.each([
    ["today", "2026-11-22"],
    ["Tomorrow", "2026-11-23"],
    // Today is one that is not over.
    ["sunday", "2026-11-22"],
    ["next sunday", "2026-11-29"],
    ["on friday", "2026-11-27"],
    ["2026-12-25", "2026-12-25"],
    ["25.12.2026", "2026-12-25"],
  ])("%j is %s", (text, expected) => expect(read(text)).toBe(expected));

  it.each(["", "soon", "noon", "9:00", "monday 9:00", "tonight"])("%j is none", (text) => {
    expect(() => read(text)).toThrow(/^--to-day: .* is not a day\. Give for example monday/);
  });
});

describe("from or until when", () => {
  const read = (text: string) => readBound(text, { now: NOW, timezone: BERLIN, field: "--from" });

  it.each([
    ["2026-12-01", "2026-12-01"],
    ["tomorrow", "2026-11-23"],
    ["yesterday", "2026-11-21"],
    ["25.12.2026", "2026-12-25"],
    ["jan 5", "2027-01-05"],
    ["now", "2026-11-22T13:30:00.000Z"],
    ["tomorrow 9:00", "2026-11-23T09:00[Europe/Berlin]"],
    ["2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z"],
  ])("%j is %s", (text, expected) => expect(read(text)).toBe(expected));

  it("has examples where it is none", () => {
    expect(() => read("gestern")).toThrow(/^--from: "gestern" is not a time\. Give for example/);
    expect(() => read("31.2.2027")).toThrow(/^--from: .* no calendar has/);
  });
});

describe("what a time that is refused would have meant", () => {
  const here = { now: Date.parse("2026-11-27T11:00:00Z"), timezone: "Europe/Berlin" };
  it.each([
    // Today by its weekday's name, or in a week.
    ["fri 18:00", ["2026-11-27T18:00+01:00", "2026-12-04T18:00+01:00"]],
    ["next friday 18:00", ["2026-12-04T18:00+01:00"]],
    ["tomorrow 9am", ["2026-11-28T09:00+01:00"]],
    ["in 2 hours", ["2026-11-27T14:00+01:00"]],
    // They can be read in one way alone.
    ["11/28/2026 9:00 AM", ["2026-11-28T09:00+01:00"]],
    ["24/12/26 18:00", ["2026-12-24T18:00+01:00"]],
    ["24.12.26 18:00", ["2026-12-24T18:00+01:00"]],
    ["2026/12/24 18:00", ["2026-12-24T18:00+01:00"]],
    ["now", null],
    ["yesterday", null],
    ["soon", null],
    ["soon evening", null],
    ["30/30/2026 9:00", null],
    ["31.2.2027 9:00", null],
    ["2026-13-40T09:00", null],
  ])("%j as a time to come: %j", (text, times) =>
    expect(meantMoment(here)(text)).toEqual(times && { times, isGuess: false }),
  );

  it.each([
    // Today's is over, so it may be meant of another day.
    ["Friday at 11:00", ["2026-12-04T11:00+01:00"]],
    ["11:00", ["2026-11-28T11:00+01:00"]],
    ["friday", ["2026-12-04T09:00+01:00"]],
    ["tonight", ["2026-11-27T20:00+01:00"]],
    ["this evening", ["2026-11-27T20:00+01:00"]],
    ["next Friday evening", ["2026-12-04T20:00+01:00"]],
    ["friday evening", ["2026-11-27T20:00+01:00", "2026-12-04T20:00+01:00"]],
    ["tomorrow in the morning", ["2026-11-28T09:00+01:00"]],
    ["02/12/2026 18:00", ["2026-12-02T18:00+01:00"]],
    ["12/11/2027 18:00", ["2027-11-12T18:00+01:00", "2027-12-11T18:00+01:00"]],
  ])("%j as a time to come may be %j, which a person knows", (text, times) =>
    expect(meantMoment(here)(text)).toEqual({ times, isGuess: true }),
  );

  it.each([
    ["yesterday", ["2026-11-26"]],
    ["friday, november 27", ["2026-11-27"]],
    ["friday", ["2026-11-27", "2026-12-04"]],
    ["11/28/2026", ["2026-11-28"]],
    ["tomorrow 9:00", ["2026-11-28T09:00+01:00"]],
    ["last week", null],
    ["soon", null],
  ])("%j as a bound: %j", (text, times) =>
    expect(meantBound(here)(text)).toEqual(times && { times, isGuess: false }),
  );

  it.each([
    ["Monday", ["2026-11-30"]],
    ["friday", ["2026-11-27", "2026-12-04"]],
    ["next friday evening", ["2026-12-04"]],
    ["dec 5", ["2026-12-05"]],
    ["2026-11-30T09:00", null],
  ])("%j as a day: %j", (text, times) =>
    expect(meantDay(text, here)).toEqual(times && { times, isGuess: false }),
  );
});
