import { describe, expect, it } from "vitest";
import { changesBetween, isOtherThan, type DraftSnapshot } from "../../../../apps/features/draft/changes.ts";
import { DraftSnapshots } from "../../../../apps/page/rooms/review/draft-snapshots.ts";

const words = { channel: (id: string) => id.toUpperCase(), when: (at: string) => `<${at}>` };

function seen(more: Partial<DraftSnapshot> = {}): DraftSnapshot {
  return {
    id: "dft_1",
    revision: 1,
    title: null,
    note: null,
    labels: [],
    time: null,
    isNextSlot: false,
    repeat: null,
    channels: [channel("a"), channel("b")],
    ...more,
  };
}

function channel(
  accountId: string,
  more: Partial<DraftSnapshot["channels"][number]> = {},
): DraftSnapshot["channels"][number] {
  return { accountId, scheduledAt: null, texts: ["Hello"], media: [], fields: "{}", ...more };
}

function told(before: Partial<DraftSnapshot>, after: Partial<DraftSnapshot>): readonly string[] {
  return changesBetween(seen(before), seen(after), words);
}

describe("what changed in a draft", () => {
  it("is nothing where nothing can be seen of it", () => {
    expect(told({}, { revision: 2 })).toEqual([]);
  });

  it("tells times in words", () => {
    expect(told({ time: "T1" }, { time: "T2" })).toEqual(["The time was <T1>. It is <T2> now."]);
    expect(told({}, { time: "T2" })).toEqual(["The time was at once when approved. It is <T2> now."]);
    expect(told({ time: "T1" }, { isNextSlot: true })).toEqual([
      "The time was <T1>. It is the next free slot now.",
    ]);
    expect(told({ time: "T1" }, { repeat: "{}" })).toEqual(["It is a series now."]);
    expect(told({ repeat: "{}" }, { time: "T1" })).toEqual(["It is no series any more."]);
    expect(told({ repeat: "1" }, { repeat: "2" })).toEqual(["The rule of the series was changed."]);
  });

  it("tells which channels came and went", () => {
    expect(
      told({ channels: [channel("a"), channel("b")] }, { channels: [channel("a"), channel("c")] }),
    ).toEqual(["It goes to C, too.", "It does not go to B any more."]);
  });

  it("names channels where not all changed", () => {
    const text = { texts: ["Bye"] };
    expect(told({}, { channels: [channel("a", text), channel("b")] })).toEqual([
      "The text was changed on A.",
    ]);
    expect(told({}, { channels: [channel("a", text), channel("b", text)] })).toEqual([
      "The text was changed.",
    ]);
    expect(
      told({}, { channels: [channel("a", { media: ["x"], fields: "1" }), channel("b", { fields: "1" })] }),
    ).toEqual(["The pictures or videos were changed on A.", "Other fields were changed on B."]);
  });

  it("tells title, labels and note", () => {
    expect(told({ title: "Old", labels: ["x"] }, { title: "New", labels: ["y"], note: "Ask" })).toEqual([
      "The title was “Old”.",
      "New labels: y.",
      "Labels taken away: x.",
      "There is a note.",
    ]);
  });
});

describe("looks", () => {
  it("compares with the last visit, however often one comes back", () => {
    const storage = memoryStorage();
    const first = new DraftSnapshots(storage);
    expect(first.baseOf("dft_1")).toBe(null);
    first.record(seen({ revision: 3 }));
    expect(first.baseOf("dft_1")).toBe(null);
    const second = new DraftSnapshots(storage);
    second.record(seen({ revision: 4 }));
    expect(second.baseOf("dft_1")?.revision).toBe(3);
    second.record(seen({ revision: 4 }));
    expect(second.baseOf("dft_1")?.revision).toBe(3);
    second.compareWith(seen({ revision: 4 }));
    expect(second.baseOf("dft_1")?.revision).toBe(4);
    second.forget("dft_1");
    expect(new DraftSnapshots(storage).baseOf("dft_1")).toBe(null);
  });

  it("does without what it cannot read or write", () => {
    const broken = memoryStorage();
    broken.setItem("posthorn.review.looks", '[{"id":"dft_1"},7]');
    expect(new DraftSnapshots(broken).baseOf("dft_1")).toBe(null);
    const full = { ...memoryStorage(), setItem: () => raise("full") };
    new DraftSnapshots(full).record(seen());
  });
});

function memoryStorage() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

function raise(message: string): never {
  throw new Error(message);
}

describe("a post that was changed since its draft was approved", () => {
  const at = "2027-01-14T07:30:00.000Z";
  const draft = (more: object = {}) =>
    ({
      caption: "Half price: https://example.com/a?b=1",
      scheduledAt: at,
      repeat: null,
      targets: [{ accountId: "acc_1", caption: null, scheduledAt: null }],
      ...more,
    }) as unknown as Parameters<typeof isOtherThan>[0];
  const post = (more: object = {}) =>
    ({
      accountId: "acc_1",
      status: "scheduled",
      attempts: 0,
      createdAt: "2027-01-01T08:00:00.000Z",
      updatedAt: "2027-01-02T08:00:00.000Z",
      caption: "Half price: https://example.com/a?b=1",
      scheduledAt: at,
      ...more,
    }) as unknown as Parameters<typeof isOtherThan>[1];

  it("has another time or text", () => {
    expect(isOtherThan(draft(), post())).toBe(false);
    expect(isOtherThan(draft(), post({ scheduledAt: "2027-01-15T08:00:00.000Z" }))).toBe(true);
    expect(isOtherThan(draft(), post({ caption: "Half price on Friday" }))).toBe(true);
  });

  it("is none where only what the channel adds, a free slot or the turn of a series differs", () => {
    const measured = "Half price: https://example.com/a?b=1&utm_source=feed&utm_medium=social";
    expect(isOtherThan(draft(), post({ caption: measured }))).toBe(false);
    expect(isOtherThan(draft({ scheduledAt: null }), post())).toBe(false);
    // Approved for another time.
    const elsewhen = { scheduledAt: "2027-01-15T08:00:00.000Z", updatedAt: "2027-01-01T08:00:00.000Z" };
    expect(isOtherThan(draft(), post(elsewhen))).toBe(false);
    expect(isOtherThan(draft({ repeat: {} }), post({ caption: "Another" }))).toBe(false);
  });
});
