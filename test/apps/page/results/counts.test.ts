import { describe, expect, it } from "vitest";
import {
  countByDay,
  countByWeekHour,
  dayOfRow,
  lastDays,
  shadeOf,
} from "../../../../apps/page/rooms/results/counts.ts";
import { createZone } from "../../../../apps/shared/zone.ts";
import { countPosts } from "../../../../apps/shared/texts.ts";

const BERLIN = createZone("Europe/Berlin");
const live = (accountId: string, time: string) => ({ accountId, at: Date.parse(time) });

describe("posts by day", () => {
  const days = lastDays("2026-11-03", 3);

  it("ends with today", () => {
    expect(days).toEqual(["2026-11-01", "2026-11-02", "2026-11-03"]);
  });

  it("counts by the days of the zone, the channel with most posts first", () => {
    const posts = [
      live("b", "2026-11-03T10:00:00Z"),
      live("b", "2026-11-03T11:00:00Z"),
      // Past midnight in Berlin.
      live("a", "2026-11-01T23:30:00Z"),
      live("a", "2026-10-01T10:00:00Z"),
    ];
    expect(countByDay(posts, days, BERLIN)).toEqual({
      days,
      channels: [
        { accountId: "b", counts: [0, 0, 2], posts: 2 },
        { accountId: "a", counts: [0, 1, 0], posts: 1 },
      ],
      totals: [0, 1, 2],
      posts: 3,
    });
  });

  it("has nothing of nothing", () => {
    expect(countByDay([], days, BERLIN)).toEqual({ days, channels: [], totals: [0, 0, 0], posts: 0 });
  });
});

describe("posts by hour of the week", () => {
  // 2 November 2026 is a Monday.
  const posts = [
    live("a", "2026-11-02T08:59:59Z"),
    live("a", "2026-11-09T08:00:00Z"),
    live("b", "2026-11-08T22:00:00Z"),
  ];

  it("counts in the zone, from the first day of the week", () => {
    const week = countByWeekHour(posts, BERLIN, 1);
    expect(week.rows[0]?.[9]).toBe(2);
    expect(week.rows[6]?.[23]).toBe(1);
    expect(week).toMatchObject({ most: 2, posts: 3, peak: { row: 0, hour: 9 } });
    expect(countByWeekHour(posts, BERLIN, 7).rows[1]?.[9]).toBe(2);
  });

  it("has no peak where two hours are alike, or none has a post", () => {
    expect(countByWeekHour(posts.slice(1), BERLIN, 1).peak).toBeNull();
    expect(countByWeekHour([], BERLIN, 1)).toMatchObject({ most: 0, peak: null });
  });

  it("names its rows by a day of that weekday", () => {
    const weekday = (first: number) => new Date(`${dayOfRow(0, first)}T00:00:00Z`).getUTCDay() || 7;
    expect([1, 6, 7].map(weekday)).toEqual([1, 6, 7]);
  });

  it("shades by the most", () => {
    expect([0, 1, 2, 3, 4].map((count) => shadeOf(count, 4))).toEqual([0, 1, 2, 3, 4]);
    expect(shadeOf(0, 0)).toBe(0);
  });
});

it("says how many posts", () => {
  expect([0, 1, 2, 1_200].map(countPosts)).toEqual(["0 posts", "1 post", "2 posts", "1,200 posts"]);
});
