import { describe, expect, it } from "vitest";
import {
  atTime,
  emptyForm,
  type Form,
  isAnything,
  moved,
  newTarget,
  slotless,
  timeProblem,
  withField,
} from "../../../../apps/page/rooms/write/form.ts";
import { pollProblem } from "../../../../apps/page/rooms/write/poll.ts";
import { fromWall, toWall } from "../../../../apps/shared/wall-time.ts";
import { createZone } from "../../../../apps/shared/zone.ts";
import { copyOf, formOf, formOfPost } from "../../../../apps/page/rooms/write/read-form.ts";
import {
  draftOf,
  mergedForm,
  metadataOf,
  postChangeOf,
} from "../../../../apps/page/rooms/write/send-form.ts";

const BERLIN = createZone("Europe/Berlin");
const NOW = Date.parse("2026-11-26T10:00:00Z");

const empty = (): Form => emptyForm(NOW, BERLIN);
const picture = (url: string, altText = ""): Form["media"][number] => ({ key: url, url, altText });

describe("the time of a form", () => {
  it("is the first of its series, until the series is set otherwise", () => {
    const form = atTime(empty(), "2027-01-31T17:30");
    expect(form.repeat).toMatchObject({ from: "2027-01-31", days: ["sun"], time: "17:30" });
    const own = atTime({ ...form, repeat: { ...form.repeat, from: "2027-02-07" } }, "2027-03-01T08:00");
    expect(own).toMatchObject({ at: "2027-03-01T08:00", repeat: { from: "2027-02-07", time: "17:30" } });
  });
});

describe("a year that is being typed", () => {
  const target = { ...newTarget("acc_1"), at: "0020-11-29T09:00" };
  const repeat = { ...empty().repeat, end: "until" as const };
  const WRONG = "Give a year from 1970 to 2199.";

  it.each<readonly [string, Form]>([
    ["the time", { ...empty(), at: "0020-11-29T09:00" }],
    ["a channel's own time", { ...empty(), targets: [target] }],
    ["a channel's own time beside slots", { ...empty(), when: "slot", targets: [target] }],
    ["a series' first day", { ...empty(), when: "repeat", repeat: { ...repeat, from: "0020-11-29" } }],
    ["a series' last day", { ...empty(), when: "repeat", repeat: { ...repeat, until: "2400-11-29" } }],
  ])("is none of %s: it is said, and not sent", (_, form) => {
    expect(timeProblem(form, BERLIN, NOW)).toBe(WRONG);
    expect(JSON.stringify([draftOf(form, BERLIN, []), postChangeOf(form, BERLIN)])).not.toMatch(
      /0020|2400|-00/,
    );
  });
});

describe("a copy of a post", () => {
  const copy = (scheduledAt: string): Form =>
    copyOf(
      { accountId: "acc_1", caption: "Again", mediaUrl: "", metadata: null, scheduledAt },
      ["spring"],
      NOW,
      BERLIN,
    );

  it("has the day and time of the post, where that is ahead", () => {
    const form = copy("2027-05-14T08:30:00Z");
    expect(form).toMatchObject({ when: "at", at: "2027-05-14T10:30", caption: "Again", labels: ["spring"] });
    expect(form.repeat).toMatchObject({ from: "2027-05-14", time: "10:30", days: ["fri"] });
  });

  it("begins tomorrow, where that has passed", () => {
    expect(copy("2026-05-14T08:30:00Z")).toMatchObject({ when: "at", at: "2026-11-27T09:00" });
  });
});

it("names the channels that take a slot and have none", () => {
  const targets = [newTarget("acc_1"), newTarget("acc_2"), { ...newTarget("acc_3"), at: "2027-01-31T09:00" }];
  const has = (id: string): boolean => id === "acc_1";
  expect(slotless({ ...empty(), when: "slot", targets }, has)).toEqual(["acc_2"]);
  expect(slotless({ ...empty(), targets }, has)).toEqual([]);
});

describe("a poll", () => {
  const poll = (...options: string[]): Form => ({
    ...empty(),
    metadata: { poll: { options, hours: 24 } },
  });

  it("that was opened and left empty is nothing yet, and goes nowhere", () => {
    expect(isAnything(poll("", ""))).toBe(false);
    expect(metadataOf(poll("", " "), [])).toBe(null);
    expect(pollProblem(poll("", "").metadata)).toMatch(/^The poll needs two answers or more\./);
  });

  it("is sent without empty answers, and held back while one or two are the same", () => {
    expect(metadataOf(poll("Rye", "", "Spelt"), [])).toEqual({
      poll: { options: ["Rye", "Spelt"], hours: 24 },
    });
    expect(pollProblem(poll("Rye", "Spelt").metadata)).toBe(null);
    expect(pollProblem(poll("Rye", "").metadata)).toMatch(/^The poll needs two answers/);
    expect(pollProblem(poll("Rye", "Rye").metadata)).toMatch(/^Two answers of the poll are the same\./);
    expect(pollProblem({})).toBe(null);
  });
});

const DRAFT = {
  id: "dft_1",
  title: null,
  state: "open",
  revision: 3,
  caption: "Hello",
  mediaUrl: "r2://a/1.jpg",
  metadata: {
    altText: "One",
    moreMedia: [{ url: "r2://a/2.jpg", altText: "Two" }],
    thread: [{ caption: "And then", mediaUrl: "r2://a/3.jpg", altText: "Three" }],
    language: "en",
  },
  targets: [
    { accountId: "acc_1", caption: null, mediaUrl: null, metadata: null, scheduledAt: null },
    {
      accountId: "acc_2",
      caption: "Short",
      mediaUrl: "r2://a/2.jpg",
      metadata: { altText: null, moreMedia: null, boardId: "7" },
      scheduledAt: "2026-12-01T08:30:00.000Z",
    },
  ],
  scheduledAt: "2026-11-27T08:00:00.000Z",
  slot: null,
  repeat: null,
  labels: ["spring"],
  note: "Ask Hanna",
  checks: [],
  writtenBy: { keyId: "key_1", name: "Claude" },
  decision: null,
  posts: [],
  outcome: null,
  createdAt: "2026-11-25T08:00:00.000Z",
  updatedAt: "2026-11-25T08:00:00.000Z",
} as const;

describe("a draft as a form", () => {
  it("comes back as it was", () => {
    const form = formOf({ ...DRAFT, metadata: { ...DRAFT.metadata } } as never, NOW, BERLIN);
    expect(form.at).toBe("2026-11-27T09:00");
    expect(form.media.map(({ url, altText }) => [url, altText])).toEqual([
      ["r2://a/1.jpg", "One"],
      ["r2://a/2.jpg", "Two"],
    ]);
    expect(form.parts).toMatchObject([
      { caption: "And then", medium: { url: "r2://a/3.jpg", altText: "Three" } },
    ]);
    expect(form.metadata).toEqual({ language: "en" });
    expect(draftOf(form, BERLIN, Object.keys(DRAFT.metadata))).toEqual({
      title: null,
      caption: "Hello",
      mediaUrl: DRAFT.mediaUrl,
      metadata: DRAFT.metadata,
      targets: DRAFT.targets,
      scheduledAt: DRAFT.scheduledAt,
      slot: null,
      repeat: null,
      labels: ["spring"],
      note: "Ask Hanna",
    });
  });

  it("takes keys away that the form has no more", () => {
    const form = { ...empty(), caption: "Hi", metadata: { link: "https://example.com" } };
    expect(metadataOf(form, ["altText", "thread", "link"])).toEqual({
      altText: null,
      thread: null,
      link: "https://example.com",
    });
    expect(metadataOf(empty(), ["altText"])).toBeNull();
  });

  it("leaves out media whose bytes are not stored, and parts without text", () => {
    const form = {
      ...empty(),
      media: [picture(""), picture("r2://a/1.jpg", " A dog ")],
      parts: [{ key: "p", caption: " ", medium: null }],
    };
    expect(draftOf(form, BERLIN, [])).toMatchObject({
      mediaUrl: "r2://a/1.jpg",
      metadata: { altText: "A dog" },
    });
  });

  it("takes the shared texts away from other media", () => {
    const target = { ...newTarget("acc_1"), media: [picture("r2://a/9.jpg")] };
    const form = {
      ...empty(),
      media: [picture("r2://a/1.jpg", "One"), picture("r2://a/2.jpg")],
      targets: [target],
    };
    expect(draftOf(form, BERLIN, [])["targets"]).toMatchObject([
      { mediaUrl: "r2://a/9.jpg", metadata: { altText: null, moreMedia: null } },
    ]);
    const none = { ...form, targets: [{ ...target, media: [] }] };
    expect(draftOf(none, BERLIN, [])["targets"]).toMatchObject([{ mediaUrl: "" }]);
  });

  it("goes on with what others changed, and with what they left alone", () => {
    const base: Form = { ...empty(), caption: "Old", note: "Old", media: [picture("/1.png", "One")] };
    const before = draftOf(base, BERLIN, []);
    const mine: Form = {
      ...base,
      caption: "Mine",
      note: "Mine",
      when: "slot",
      targets: [newTarget("acc_1")],
      media: [...base.media, picture("/2.png")],
    };
    const theirs: Form = { ...base, caption: "Theirs", title: "Theirs", at: "2027-01-01T10:00" };
    const { caption, title, at, when } = theirs;
    expect(mergedForm(theirs, mine, before, BERLIN)).toEqual({ ...mine, caption, title, at, when });
    const described: Form = { ...base, media: [picture("/1.png", "Theirs")] };
    expect(mergedForm(described, mine, before, BERLIN)).toEqual({ ...mine, media: described.media });
  });

  it("has one time of three", () => {
    expect(draftOf({ ...empty(), when: "slot" }, BERLIN, [])).toMatchObject({
      scheduledAt: null,
      slot: "next",
      repeat: null,
    });
    expect(draftOf({ ...empty(), when: "now" }, BERLIN, [])).toMatchObject({ scheduledAt: null, slot: null });
    expect(draftOf({ ...empty(), when: "repeat" }, BERLIN, [])).toMatchObject({
      scheduledAt: null,
      slot: null,
      repeat: { every: 1, unit: "week", days: ["fri"], time: "09:00", timezone: "Europe/Berlin" },
    });
    // A time that is not whole yet changes nothing of what the server has.
    expect(draftOf({ ...empty(), at: "" }, BERLIN, [])).not.toHaveProperty("scheduledAt");
    expect(draftOf({ ...empty(), at: "" }, BERLIN, [])).not.toHaveProperty("slot");
  });

  it("gives a series no times of single channels", () => {
    const targets = [{ ...newTarget("acc_1"), at: "2026-12-01T09:00" }];
    expect(draftOf({ ...empty(), when: "repeat", targets }, BERLIN, [])["targets"]).toMatchObject([
      { scheduledAt: null },
    ]);
  });

  it("is kept once there is anything in it", () => {
    expect(isAnything(empty())).toBe(false);
    expect(isAnything({ ...empty(), targets: [newTarget("acc_1")] })).toBe(false);
    expect(isAnything({ ...empty(), media: [picture("")] })).toBe(false);
    expect(isAnything({ ...empty(), caption: "a" })).toBe(true);
    expect(isAnything({ ...empty(), media: [picture("r2://a/1.jpg")] })).toBe(true);
  });
});

describe("a post as a form", () => {
  const POST = {
    accountId: "acc_1",
    caption: "Hi",
    mediaUrl: "",
    metadata: { title: "T", altText: "x" },
    scheduledAt: "2026-12-24T17:00:00.000Z",
  };

  it("has its content, without what was taken away", () => {
    const form = formOfPost(POST as never, NOW, BERLIN);
    expect(form).toMatchObject({
      when: "at",
      at: "2026-12-24T18:00",
      caption: "Hi",
      metadata: { title: "T" },
    });
    expect(postChangeOf({ ...form, metadata: {} }, BERLIN)).toEqual({
      caption: "Hi",
      mediaUrl: "",
      metadata: null,
      scheduledAt: "2026-12-24T17:00:00.000Z",
    });
  });

  it("goes out at once where its time has passed", () => {
    expect(formOfPost({ ...POST, scheduledAt: "2026-11-01T00:00:00.000Z" } as never, NOW, BERLIN).when).toBe(
      "now",
    );
  });
});

it("moves items, and only within the list", () => {
  expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
  expect(moved(["a", "b", "c"], 2, 1)).toEqual(["a", "c", "b"]);
  expect(moved(["a", "b"], 1, 2)).toEqual(["a", "b"]);
  expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
});

it("takes an empty field out of the metadata", () => {
  expect(withField({ a: 1 }, "b", "x")).toEqual({ a: 1, b: "x" });
  expect(withField({ a: 1, b: "x" }, "b", "")).toEqual({ a: 1 });
  expect(withField({ a: 1, b: ["x"] }, "b", [])).toEqual({ a: 1 });
  expect(withField({ a: true }, "a", false)).toEqual({ a: false });
});

it("reads wall times in the zone, also around a clock change", () => {
  expect(toWall(Date.parse("2026-07-01T10:05:00Z"), BERLIN)).toBe("2026-07-01T12:05");
  expect(fromWall("2026-07-01T12:05", BERLIN)).toBe(Date.parse("2026-07-01T10:05:00Z"));
  expect(fromWall("2026-03-29T02:30", BERLIN)).toBe(Date.parse("2026-03-29T01:30:00Z"));
  expect(fromWall("", BERLIN)).toBeNull();
  expect(fromWall("2026-13-45T10:00", BERLIN)).toBeNull();
});

it("says what is wrong with the time", () => {
  expect(timeProblem(empty(), BERLIN, NOW)).toBeNull();
  expect(timeProblem({ ...empty(), at: "" }, BERLIN, NOW)).toBe("Choose a day and a time.");
  expect(timeProblem({ ...empty(), at: "2026-11-26T08:00" }, BERLIN, NOW)).toContain("has passed");
  const repeat = { ...empty().repeat, days: [] };
  expect(timeProblem({ ...empty(), when: "repeat", repeat }, BERLIN, NOW)).toContain("day of the week");
  expect(timeProblem({ ...empty(), when: "now", at: "" }, BERLIN, NOW)).toBeNull();
});
