import { describe, expect, it } from "vitest";
import { durationInWords, historyLines } from "../../../../apps/page/post/history.ts";
import type { Attempt } from "../../../../src/domain/posts/post.ts";

const attempt = (changes: Partial<Attempt>): Attempt => ({
  id: "att_1",
  number: 1,
  startedAt: "2026-11-24T08:00:00.000Z",
  finishedAt: null,
  outcome: "published",
  error: null,
  latenessMs: 0,
  lateCause: null,
  steps: [],
  ...changes,
});
const AT = "2026-11-24T08:00:00.000Z";
const PUBLISHED = {
  status: "published",
  error: null,
  createdAt: AT,
  updatedAt: AT,
  scheduledAt: AT,
  publishedAt: AT,
} as const;
type Changes = Partial<Parameters<typeof historyLines>[2]>;
const life = (post: Changes, ...attempts: Partial<Attempt>[]): string[] =>
  historyLines(attempts.map(attempt), "Mastodon", { ...PUBLISHED, ...post }, (ms) =>
    new Date(ms).toISOString(),
  ).map(({ text }) => text);
/** Without the line that it was made. */
const told = (...attempts: Partial<Attempt>[]): string[] => life({}, ...attempts).slice(1);

describe("the history of a post in words", () => {
  it("tells of the last change, a cancelling, a dismissal and a taking down", () => {
    const later = "2026-11-25T08:00:00.000Z";
    const waits = { status: "scheduled", publishedAt: null, updatedAt: later, scheduledAt: later } as const;
    expect(life(waits)).toEqual(["Scheduled.", `Last changed. Planned for ${later}.`]);
    expect(life({ ...waits, updatedAt: "2026-11-24T08:00:00.004Z" })).toEqual(["Scheduled."]);
    // An attempt that ended changed it last.
    expect(life(waits, { outcome: "retrying", finishedAt: later })).toHaveLength(2);
    expect(life({ ...waits, status: "cancelled" }).at(-1)).toBe(`Cancelled. It was planned for ${later}.`);
    expect(life({ ...waits, status: "cancelled", error: "Too long." }).at(-1)).toBe("Dismissed.");
    expect(life({ status: "cancelled", updatedAt: later }, {}).at(-1)).toBe("Taken down.");
  });

  it("says what was tried, what came of it and why it was late", () => {
    expect(
      told(
        { outcome: "retrying", error: "Mastodon could not be reached." },
        { outcome: "published", latenessMs: 12_000, lateCause: "retry" },
      ),
    ).toEqual([
      "Tried: it did not go through yet, and will be tried again. Mastodon could not be reached.",
      "Tried again: published on Mastodon. It began 12 s late, because it had to be tried again.",
    ]);
  });

  it("does not call a moment late", () => {
    expect(told({ latenessMs: 900, lateCause: "load" })).toEqual(["Published on Mastodon."]);
  });

  it("speaks in whole sentences", () => {
    expect(
      told({ outcome: "failed", error: "the text is too long. Shorten it, then send it again" }),
    ).toEqual(["Tried: it failed. The text is too long. Shorten it, then send it again."]);
  });

  it.each([
    ["uploaded", false],
    ["running", false],
    ["waiting", false],
    ["unknown", true],
    ["interrupted", true],
    ["failed", true],
  ] as const)("has a sentence for %s", (outcome, isBad) => {
    const [, line] = historyLines([attempt({ outcome })], "Mastodon", PUBLISHED, String);
    expect(line).toMatchObject({ isBad, at: Date.parse("2026-11-24T08:00:00Z") });
    expect(line?.text).toMatch(/^[A-Z].*\.$/);
  });

  it.each([
    [12_400, "12 s"],
    [60_000, "1 min"],
    [125_000, "2 min 5 s"],
    [3_600_000, "1 h"],
    [5_400_000, "1 h 30 min"],
    [90_000_000, "1 day 1 h"],
    [172_800_000, "2 days"],
  ])("says %i milliseconds as %s", (ms, text) => {
    expect(durationInWords(ms)).toBe(text);
  });
});
