import { describe, expect, it } from "vitest";
import {
  goesOutAtOnce,
  nextDays,
  approvalInWords,
  approvalResult,
} from "../../../../apps/features/draft/draft-words.ts";
import type { Draft } from "../../../../apps/shared/drafts.ts";

const when = (ms: number): string => `day ${ms / DAY}`;
const DAY = 24 * 60 * 60 * 1_000;

function draft(times: readonly (number | null)[], more: Partial<Draft> = {}): Draft {
  return {
    repeat: null,
    isNextSlot: false,
    scheduledAt: null,
    targets: times.map((scheduledAt) => ({ scheduledAt })),
    ...more,
  } as unknown as Draft;
}

describe("what an approval brings about", () => {
  it.each([
    [draft([null]), "Publishes 1 post at once."],
    [draft([DAY]), "Schedules 1 post on day 1."],
    [draft([DAY, DAY]), "Schedules 2 posts, all on day 1."],
    [draft([3 * DAY, DAY, 2 * DAY]), "Schedules 3 posts, the first on day 1."],
    [draft([null, 2 * DAY]), "Publishes 1 post at once and schedules 1, the first on day 2."],
    [draft([null], { isNextSlot: true }), "Schedules 1 post, in the next free slot of its channel."],
    [
      draft([null, null], { isNextSlot: true }),
      "Schedules 2 posts, each in the next free slot of its channel.",
    ],
    [draft([null, null], { repeat: "Every day" }), "Starts the series, on 2 channels each time."],
  ])("is said before it (%#)", (one, sentence) => {
    expect(approvalInWords(one, when)).toBe(sentence);
  });

  it("is said after it", () => {
    expect(approvalResult(false, [2 * DAY, DAY], 0, when)).toBe("2 posts are scheduled, the first on day 1.");
    expect(approvalResult(false, [DAY], 0, when)).toBe("1 post is scheduled on day 1.");
    expect(approvalResult(false, [0], 0, when)).toBe("1 post goes out now.");
    expect(approvalResult(true, [DAY, 2 * DAY], 0, when)).toBe(
      "The series runs: 2 posts are planned, the first on day 1.",
    );
  });

  it("is asked where it is public at once", () => {
    expect(goesOutAtOnce(draft([null]), 0)).toBe(true);
    expect(goesOutAtOnce(draft([DAY, 30_000]), 0)).toBe(true);
    expect(goesOutAtOnce(draft([DAY]), 0)).toBe(false);
    expect(goesOutAtOnce(draft([null], { isNextSlot: true }), 0)).toBe(false);
    expect(goesOutAtOnce(draft([null], { repeat: "Every day" }), 0)).toBe(false);
  });
});

describe("the next days of a series", () => {
  const series = {
    every: 1,
    unit: "week",
    time: "09:00",
    timezone: "Europe/Berlin",
    from: "2026-11-02",
  } as const;
  const monday = Date.parse("2026-11-30T07:59:00Z");

  it("begin with today until its time has gone by there", () => {
    expect(nextDays(series, monday, 2)).toEqual(["2026-11-30", "2026-12-07"]);
    expect(nextDays(series, monday + 60_000, 2)).toEqual(["2026-12-07", "2026-12-14"]);
  });

  it("end where the series does", () => {
    expect(nextDays({ ...series, until: "2026-12-07" }, monday, 5)).toEqual(["2026-11-30", "2026-12-07"]);
    const approved = Date.parse("2026-11-01T12:00:00Z");
    expect(nextDays({ ...series, times: 5 }, monday, 5, approved)).toEqual(["2026-11-30"]);
    // Not approved yet: what came before is no time of it.
    expect(nextDays({ ...series, times: 2 }, monday, 5)).toEqual(["2026-11-30", "2026-12-07"]);
  });

  it("take the last day of a month that has no 31st", () => {
    const monthly = { ...series, unit: "month", from: "2026-10-31" } as const;
    expect(nextDays(monthly, monday, 3)).toEqual(["2026-11-30", "2026-12-31", "2027-01-31"]);
  });
});
