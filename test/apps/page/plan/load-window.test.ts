import { describe, expect, it } from "vitest";
import { filterCalendar, halvesOf, joinCalendars } from "../../../../apps/page/rooms/plan/load-window.ts";

type Calendar = Parameters<typeof joinCalendars>[0];

const calendarOf = (posts: readonly [string, string][], drafts: readonly string[] = []): Calendar => ({
  posts: posts.map(([id, status]) => ({ id, status })) as never,
  drafts: drafts.map((id) => ({ id, labels: [id] })) as never,
  freeSlots: [{ accountId: "acc_1", at: "2026-11-24T08:00:00.000Z" }],
  names: { acc_1: "Blog" },
  platforms: { feed: "Feed" },
  from: "2026-11-01T00:00:00.000Z",
  to: "2026-11-30T23:59:59.999Z",
  timezone: "Europe/Berlin",
});
const ALL = { channels: [], states: [], label: "" } as const;

describe("a window with more posts than one answer", () => {
  it("is asked for in halves, down to a day", () => {
    expect(halvesOf({ from: "2026-10-26", to: "2026-12-06" })).toEqual([
      { from: "2026-10-26", to: "2026-11-15" },
      { from: "2026-11-16", to: "2026-12-06" },
    ]);
    expect(halvesOf({ from: "2026-11-24", to: "2026-11-25" })).toEqual([
      { from: "2026-11-24", to: "2026-11-24" },
      { from: "2026-11-25", to: "2026-11-25" },
    ]);
    expect(halvesOf({ from: "2026-11-24", to: "2026-11-24" })).toBeNull();
  });

  it("is put together again, a draft of both halves once", () => {
    const first = calendarOf([["post_1", "failed"]], ["draft_1"]);
    const second = { ...calendarOf([["post_2", "failed"]], ["draft_1", "draft_2"]), to: "later" };
    const joined = joinCalendars(first, second);
    expect(joined.posts.map(({ id }) => id)).toEqual(["post_1", "post_2"]);
    expect(joined.drafts.map(({ id }) => id)).toEqual(["draft_1", "draft_2"]);
    expect(joined).toMatchObject({ from: first.from, to: "later" });
    expect(joined.freeSlots).toHaveLength(2);
  });
});

describe("filters of the plan", () => {
  const calendar = calendarOf(
    [
      ["post_1", "scheduled"],
      ["post_2", "uploaded"],
      ["post_3", "failed"],
    ],
    ["draft_1"],
  );
  const shown = (
    filters: Parameters<typeof filterCalendar>[1],
    labelled: ReadonlySet<string> | null = null,
  ) => {
    const { posts, drafts, freeSlots } = filterCalendar(calendar, filters, labelled);
    return [...posts.map(({ id }) => id), ...drafts.map(({ id }) => id), ...freeSlots.map(() => "free")];
  };

  it("leave everything where there are none", () => {
    expect(shown(ALL)).toEqual(["post_1", "post_2", "post_3", "draft_1", "free"]);
  });

  it("leave the states that are chosen, and then no free times", () => {
    expect(shown({ ...ALL, states: ["scheduled"] })).toEqual(["post_1", "post_2"]);
    expect(shown({ ...ALL, states: ["failed", "draft"] })).toEqual(["post_3", "draft_1"]);
  });

  it("leave what has the label", () => {
    expect(shown({ ...ALL, label: "draft_1" }, new Set(["post_3"]))).toEqual(["post_3", "draft_1"]);
    expect(shown({ ...ALL, label: "other" }, new Set())).toEqual([]);
  });
});
