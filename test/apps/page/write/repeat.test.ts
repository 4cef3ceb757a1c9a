import { describe, expect, it } from "vitest";
import {
  fromDay,
  inWords,
  newRepeat,
  readRepeat,
  repeatOf,
  repeatProblems,
  seriesStartInWords,
  turnsInWords,
  turnsProblem,
} from "../../../../apps/page/rooms/write/repeat.ts";
import { Repeat } from "../../../../src/domain/drafts/repeat.ts";
import { listed } from "../../../../apps/shared/texts.ts";

const weekly = newRepeat("2026-11-27T09:00", "Europe/Berlin");

describe("a series as a form", () => {
  it("takes its day of the week along to another first day, unless days were chosen", () => {
    expect(fromDay(weekly, "2027-01-31").days).toEqual(["sun"]);
    expect(fromDay({ ...weekly, days: ["mon", "fri"] }, "2027-01-31").days).toEqual(["mon", "fri"]);
    expect(fromDay(weekly, "").days).toEqual(["fri"]);
  });

  it("says which of the texts that take turns is not written yet", () => {
    expect(turnsProblem(weekly)).toBe(null);
    expect(turnsProblem({ ...weekly, texts: ["a", " "] })).toBe(
      "Text 2 of the series is empty. Write it, or remove it.",
    );
  });

  it("is said to be started in a whole sentence", () => {
    expect(seriesStartInWords(weekly, (time) => time, "Fjord Bakery")).toBe(
      "The series is started: every week on Friday at 09:00 (Europe/Berlin) on Fjord Bakery.",
    );
  });

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
      "Every 2 weeks on Monday and Friday at 09:00 by the clock (Europe/Berlin)",
    );
    expect(inWords({ ...weekly, unit: "day" }, clock)).toBe(
      "Every day at 09:00 by the clock (Europe/Berlin)",
    );
    const on = (unit: "month" | "year", from: string): string =>
      inWords({ ...weekly, unit, from, timezone: "UTC" }, (time) => time);
    expect(on("month", "2027-01-05")).toBe("Every month on day 5 at 09:00 (UTC)");
    expect(on("month", "2027-01-31")).toBe(
      "Every month on day 31 (in shorter months on the last day) at 09:00 (UTC)",
    );
    expect(on("year", "2027-03-05")).toBe("Every year on 5 Mar at 09:00 (UTC)");
    expect(on("year", "2028-02-29")).toContain("on 29 Feb (28 Feb in other years)");
  });
});

it("says which text goes out when", () => {
  expect(turnsInWords(1)).toContain("Text 1 goes out each time");
  expect(turnsInWords(2)).toBe(
    "Text 1 goes out the first time, text 2 the second time. After text 2 comes text 1 again. The text of the post itself is not used.",
  );
  expect(turnsInWords(4)).toContain("and so on. After text 4 comes text 1 again.");
});

it("lists words", () => {
  expect(listed([])).toBe("");
  expect(listed(["a"])).toBe("a");
  expect(listed(["a", "b", "c"])).toBe("a, b and c");
});
