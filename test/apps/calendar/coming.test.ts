import { expect, it } from "vitest";
import { comingInWords, comingSentence } from "../../../apps/features/calendar/coming.ts";

it("says on which days a series goes on, where they are few", () => {
  const told = (days: readonly string[]): string =>
    comingInWords(
      comingSentence(
        { draftId: "dft_1", title: "News", rule: "Every month on day 31" },
        days,
        (day) => `<${day}>`,
      ),
    );
  expect(told(["2027-02-28"])).toBe(
    "And 1 from the series “News” on <2027-02-28>: Every month on day 31. Its posts are made 14 days ahead.",
  );
  expect(told(["10", "11", "12", "13"])).toContain("And 4 from the series “News”: Every month on day 31.");
});
