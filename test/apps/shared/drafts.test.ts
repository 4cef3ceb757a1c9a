import { describe, expect, it, vi } from "vitest";
import { byUrgency, firstTimeOf, readDraft, type Draft } from "../../../apps/shared/drafts.ts";
import { isPast, obstacleOf } from "../../../apps/features/draft/readiness.ts";

const AT = "2026-11-24T08:00:00.000Z";
const SMALL = { id: "dft_1", state: "open", revision: 1 };

function read(fields: Record<string, unknown> = {}): Draft {
  const draft = readDraft({ ...SMALL, ...fields });
  if (draft === null) throw new Error("It is a draft.");
  return draft;
}

describe("a draft that a page reads", () => {
  it("may leave out everything that is null", () => {
    expect(read()).toMatchObject({
      title: "(no text)",
      text: "",
      targets: [],
      posts: [],
      scheduledAt: null,
      repeat: null,
      decision: null,
      outcome: null,
    });
  });

  it.each([null, "dft_1", [], {}, { ...SMALL, state: "toString" }, { ...SMALL, revision: "1" }])(
    "is none: %j",
    (value) => expect(readDraft(value)).toBeNull(),
  );

  it("is called by its title, else by the first line of its text, else of a channel's", () => {
    expect(read({ title: "Opening", caption: "One\nTwo" })).toMatchObject({
      title: "Opening",
      text: "One\nTwo",
    });
    expect(read({ caption: "One\nTwo" })).toMatchObject({ title: "One", text: "Two" });
    expect(read({ targets: [{ accountId: "acc_1" }, { accountId: "acc_2", caption: "Here" }] }).title).toBe(
      "Here",
    );
  });

  it("says who wrote and decided it, or where", () => {
    const by = (name: string) => ({ keyId: "key_1", name });
    const decision = { what: "approved", at: AT, note: null, revision: 1 };
    const written = read({ writtenBy: by("Anna"), decision: { ...decision, by: by("Ben") } });
    expect([written.writtenBy, written.decision?.by]).toEqual(["by Anna", "Ben"]);
    const here = read({ writtenBy: by("This machine"), decision: { ...decision, by: by("This machine") } });
    expect([here.writtenBy, here.decision?.by]).toEqual([
      "written on this computer",
      "Someone on this computer",
    ]);
    const shell = by("The command line");
    const there = read({ writtenBy: shell, decision: { ...decision, by: shell } });
    expect([there.writtenBy, there.decision?.by]).toEqual([
      "written on the command line",
      "Someone on the command line",
    ]);
    expect(read().writtenBy).toBe("");
  });

  it("shows the caption where its check's preview has no text of its own", () => {
    const [here, there, none] = read({
      caption: "All",
      targets: [{ accountId: "a" }, { accountId: "b", caption: "There" }, { accountId: "c" }],
      checks: [
        { accountId: "a", preview: { parts: [] } },
        { accountId: "b", preview: { parts: [] } },
        { accountId: "c", preview: { text: "", parts: [] } },
      ],
    }).targets;
    expect([here, there, none].map((target) => target?.preview?.text)).toEqual(["All", "There", ""]);
  });

  it("has for each channel what its check says, with the alternative texts of what goes there", () => {
    const count = { length: 2, max: 300, unit: "graphemes" };
    const media = [{ url: "r2://a/oven.jpg", type: "image" }, { url: "r2://b" }];
    const { targets } = read({
      scheduledAt: AT,
      metadata: { altText: "Shared", thread: [{ caption: "More", altText: "Of the thread" }] },
      targets: [
        {
          accountId: "acc_1",
          metadata: { altText: "Own", moreMedia: [{ url: "r2://b", altText: "Second" }] },
        },
        { accountId: "acc_2", scheduledAt: "2026-11-25T08:00:00.000Z" },
      ],
      checks: [
        {
          accountId: "acc_2",
          error: "Title is required.",
          warnings: ["w"],
        },
        {
          accountId: "acc_1",
          preview: { text: "Hi", count, media, parts: [{ text: "More", media: [media[0]] }] },
        },
      ],
    });
    expect(targets[0]).toMatchObject({
      scheduledAt: Date.parse(AT),
      error: null,
      warnings: [],
      preview: {
        text: "Hi",
        count,
        link: null,
        media: [
          { altText: "Own", type: "image" },
          { altText: "Second", type: null },
        ],
        parts: [{ text: "More", count: null, media: [{ altText: "Of the thread" }] }],
      },
    });
    expect(targets[1]).toMatchObject({
      scheduledAt: Date.parse("2026-11-25T08:00:00.000Z"),
      preview: null,
      error: "Title is required.",
      warnings: ["w"],
    });
  });

  it("leads nowhere but to web pages", () => {
    const post = { accountId: "acc_1", status: "published", scheduledAt: AT };
    const { posts } = read({
      posts: ["https://a.example/1", "javascript:alert(1)", "data:text/html,x"].map((platformUrl) => ({
        ...post,
        platformUrl,
      })),
    });
    expect(posts.map(({ platformUrl }) => platformUrl)).toEqual(["https://a.example/1", null, null]);
  });

  it.each([
    [{ every: 1, unit: "day" }, "Every day at 09:00 (UTC), from Tue 24 Nov 2026, without an end"],
    [
      { every: 2, unit: "week", days: ["mon", "thu"], until: "2027-01-01" },
      "Every 2 weeks on Mon, Thu at 09:00 (UTC), from Tue 24 Nov 2026 until Fri 1 Jan 2027",
    ],
    [
      { every: 1, unit: "month", times: 10, texts: ["a", "b"] },
      "Every month on day 24 at 09:00 (UTC), from Tue 24 Nov 2026, 10 times; 2 texts take turns",
    ],
  ])("tells its series in words: %j", (rule, words) => {
    const repeat = { time: "09:00", timezone: "UTC", from: "2026-11-24", ...rule };
    expect(read({ repeat, decision: { what: "approved", at: AT } }).repeat).toBe(words);
    expect(read({ repeat, decision: { what: "stopped", at: AT } }).repeat).toBe(words);
  });

  it("tells the day on which a series begins that was approved after its first time, or is not yet", () => {
    const repeat = { every: 1, unit: "week", time: "09:00", timezone: "UTC", from: "2026-11-24", times: 3 };
    const words =
      "Every week on Tue at 09:00 (UTC), from Tue 1 Dec 2026, because 09:00 of Tue 24 Nov 2026 is over, 3 times";
    const late = "2026-11-24T09:00:00.000Z";
    expect(read({ repeat, decision: { what: "approved", at: late } }).repeat).toBe(words);
    vi.useFakeTimers({ now: Date.parse(late) });
    expect(read({ repeat }).repeat).toBe(words);
    vi.useRealTimers();
  });
});

describe("drafts", () => {
  it("that wait come first, those that are decided last", () => {
    const states = ["discarded", "open", "scheduled", "waiting", "repeating", "ended"];
    const drafts = states.map((state) => read({ state }));
    expect(byUrgency(drafts).map(({ state }) => state)).toEqual([
      "waiting",
      "open",
      "repeating",
      "scheduled",
      "ended",
      "discarded",
    ]);
  });

  it("have their own time, else their first channel's", () => {
    const targets = [{ accountId: "acc_1" }, { accountId: "acc_2", scheduledAt: AT }];
    expect(firstTimeOf(read({ targets }))).toBe(Date.parse(AT));
    expect(firstTimeOf(read({ targets: [] }))).toBeNull();
  });

  it("can be approved once they have channels, and none of these refuses", () => {
    const targets = [{ accountId: "acc_1" }, { accountId: "acc_2" }];
    const refused = targets.map(({ accountId }) => ({ accountId, error: "No." }));
    expect(obstacleOf(read())).toMatch(/has no channel/);
    expect(obstacleOf(read({ targets }))).toBeNull();
    expect(obstacleOf(read({ targets, checks: refused.slice(1) }))).toMatch(/1 channel says why/);
    expect(obstacleOf(read({ targets, checks: refused }))).toMatch(/2 channels say why/);
  });

  it("are late once one of their times has gone by, a series never", () => {
    const targets = [{ accountId: "acc_1" }];
    const at = Date.parse(AT);
    expect(isPast(read({ targets, scheduledAt: AT }), at - 1)).toBe(false);
    expect(isPast(read({ targets, scheduledAt: AT }), at)).toBe(true);
    expect(isPast(read({ targets }), at)).toBe(false);
    expect(isPast(read({ targets, scheduledAt: AT, repeat: { every: 1, unit: "day" } }), at)).toBe(false);
  });
});
