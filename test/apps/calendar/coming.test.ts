import { expect, it } from "vitest";
import { createState, tellComing } from "../../../apps/calendar/state.ts";
import { readCalendar } from "../../../apps/calendar/posts.ts";

it("says on which days a series goes on, where they are few", () => {
  const told = (coming: readonly string[]): readonly string[] => {
    const calendar = readCalendar({
      posts: [],
      series: [{ text: "Monthly news", rule: "Every month", coming }],
      from: "2027-02-01T00:00:00Z",
      to: "2027-02-28T23:59:59Z",
      timezone: "UTC",
    });
    if (calendar === null) throw new Error("That is a calendar.");
    const now = Date.parse("2027-02-01T08:00:00Z");
    const abilities = { callsTools: false, opensLinks: false } as Parameters<
      typeof createState
    >[0]["abilities"];
    return tellComing(createState({ calendar, abilities, context: {}, now, options: {} }));
  };
  const [one] = told(["2027-02-28T09:00:00Z"]);
  expect(one).toMatch(/^And 1 from the series “Monthly news” on [^:]*\b28\b[^:]*: Every month\. /);
  const [many] = told(["10", "11", "12", "13"].map((day) => `2027-02-${day}T09:00:00Z`));
  expect(many).toContain("And 4 from the series “Monthly news”: Every month.");
});
