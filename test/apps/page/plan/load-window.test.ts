import { describe, expect, it } from "vitest";
import { filterCalendar, withPosts } from "../../../../apps/page/rooms/plan/load-window.ts";

type Calendar = Parameters<typeof withPosts>[0];

const calendarOf = (posts: readonly [string, string][], drafts: readonly string[] = []): Calendar => ({
  posts: posts.map(([id, status]) => ({ id, status })) as never,
  drafts: drafts.map((id) => ({ id, labels: [id] })) as never,
  series: [
    { draftId: "dft_1", text: null, accountIds: ["acc_1"], rule: "Every day", postsUntil: "", coming: [] },
  ],
  freeSlots: [{ accountId: "acc_1", at: "2026-11-24T08:00:00.000Z" }],
  names: { acc_1: "Blog" },
  platforms: { feed: "Feed" },
  from: "2026-11-01T00:00:00.000Z",
  to: "2026-11-30T23:59:59.999Z",
  timezone: "Europe/Berlin",
});
const ALL = { channels: [], states: [], label: "" } as const;

describe("a window with more posts than one answer", () => {
  it("has all that were listed, earliest first, with the names of their channels", () => {
    const posts = ["post_3", "post_2"].map((id) => ({ id, accountId: "acc_2", provider: "other" }));
    const calendar = withPosts(calendarOf([["post_1", "failed"]], ["draft_1"]), posts as never, {
      channelName: () => "News",
      platformTitle: () => "Other",
    });
    expect(calendar.posts.map(({ id }) => id)).toEqual(["post_2", "post_3"]);
    expect(calendar.drafts.map(({ id }) => id)).toEqual(["draft_1"]);
    expect(calendar.names).toEqual({ acc_1: "Blog", acc_2: "News" });
    expect(calendar.platforms).toEqual({ feed: "Feed", other: "Other" });
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
