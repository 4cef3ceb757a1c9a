import { expect, it } from "vitest";
import { figureInWords, figuresOf } from "../../../../apps/page/rooms/results/figures.ts";
import { latenessInWords } from "../../../../apps/page/data/lateness.ts";
import { spanInWords } from "../../../../src/domain/health/span-in-words.ts";

it("a figure that a platform does not give is no zero, and has the reason", () => {
  const figures = figuresOf({ postsPublished: 4, likes: 0, followers: 12, views: null }, [
    { metric: "views", reason: "It does not say." },
    { metric: "boosts", reason: "Unknown." },
  ]);
  expect(figures).toEqual([
    { name: "followers", title: "Followers", value: 12, reason: null },
    { name: "views", title: "Views", value: null, reason: "It does not say." },
    { name: "likes", title: "Likes", value: 0, reason: null },
    { name: "boosts", title: "boosts", value: null, reason: "Unknown." },
  ]);
  expect(figures.map(({ value }) => figureInWords(value))).toEqual(["12", "–", "0", "–"]);
  expect(figureInWords(12_345)).toBe("12,345");
});

const lateness = { p50Ms: 200, p95Ms: 61_000, maxMs: 3_700_000, days: 7 };

it("says how late posts were, and of how many", () => {
  expect(latenessInWords({ ...lateness, sampleSize: 40 })).toBe(
    "Of the 40 posts of the last 7 days, half went live within a second of their time, and 95 of 100 within 2 minutes. The latest was 1 hour 2 minutes late.",
  );
  expect(latenessInWords({ ...lateness, sampleSize: 19 })).toBe(
    "All 19 posts of the last 7 days went live within 1 hour 2 minutes of their time.",
  );
  expect(latenessInWords({ ...lateness, sampleSize: 1 })).toContain("The one post of the last 7 days");
  expect(latenessInWords({ p50Ms: null, p95Ms: null, maxMs: null, sampleSize: 0, days: 7 })).toBe(
    "No post went live in the last 7 days.",
  );
});

it("never says that it was shorter than it was", () => {
  expect([0, 1_000, 1_001, 60_000, 60_001, 3_600_000, 7_199_999].map(spanInWords)).toEqual([
    "a second",
    "a second",
    "2 seconds",
    "1 minute",
    "2 minutes",
    "1 hour",
    "2 hours",
  ]);
});
