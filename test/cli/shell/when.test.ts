import { describe, expect, it } from "vitest";
import { readWhen } from "../../../src/cli/shell/when.ts";

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
    ["2026-12-01 9:00", "2026-12-01T09:00[Europe/Berlin]"],
    ["2026-12-01 at 9pm", "2026-12-01T21:00[Europe/Berlin]"],
    ["2026-12-01T09:00", "2026-12-01T09:00[Europe/Berlin]"],
    ["2026-12-01T09:00:30.5", "2026-12-01T09:00:30.5[Europe/Berlin]"],
    ["2026-12-01T09:00:00+02:00", "2026-12-01T09:00:00+02:00"],
    ["2026-12-01 09:00:00Z", "2026-12-01 09:00:00Z"],
    ["2026-12-01T09:00[Asia/Tokyo]", "2026-12-01T09:00[Asia/Tokyo]"],
  ])("%j is %j", (text, when) => {
    expect(read(text)).toBe(when);
  });

  it("counts days by the clock on the wall", () => {
    const lateInTokyo = { now: Date.UTC(2026, 10, 22, 16), timezone: "Asia/Tokyo" };
    expect(readWhen("tomorrow 9:00", lateInTokyo)).toBe("2026-11-24T09:00[Asia/Tokyo]");
    expect(read("tomorrow 9:00", "America/St_Johns")).toBe("2026-11-23T09:00[America/St_Johns]");
  });

  it.each([
    "",
    "soon",
    "9",
    "tomorrow",
    "tomorrow 25:00",
    "tomorrow 9:60",
    "today 13pm",
    "someday 9:00",
    "frisday 9:00",
    "2026-12-01",
    "2026-13-01 9:00",
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
