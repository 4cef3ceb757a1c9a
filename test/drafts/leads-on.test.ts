import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/permissions.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

async function save(args: object, caller?: Partial<Caller>): Promise<any> {
  const content = { caption: "Hello", targets: [{ accountId }], ...args };
  return service.call("save_draft", content, caller);
}

const decide = (args: object): Promise<any> => service.call("decide_draft", args);

const DAY = "2027-01-29";
const SERIES = { unit: "week", days: ["mon"], time: "09:00", texts: ["Zebra", "Okapi"] };

describe("a decision that is repeated", () => {
  it.each([
    ["approve", {}, "The draft was approved already, and is scheduled. Nothing is to be done."],
    ["discard", {}, "The draft is discarded already. Nothing is to be done."],
    [
      "approve",
      { repeat: SERIES },
      "The draft was approved already, and is repeating. Nothing is to be done.",
    ],
  ])("%s of %o is told as done, whatever revision it names", async (decision, args, sentence) => {
    const { draft } = await save({ ...("repeat" in args ? {} : { scheduledAt: `${DAY}T09:00` }), ...args });
    const call = { id: draft.id, revision: draft.revision, decision };
    await decide(call);
    await expect(decide(call)).rejects.toMatchObject({ kind: "conflict", message: sentence });
    const once = await service.call("list_drafts", { id: draft.id });
    await expect(decide({ ...call, revision: once.drafts[0].revision })).rejects.toThrow(sentence);
  });

  it("names stop to who would discard a series, and no more once it has ended", async () => {
    const { draft } = await save({ repeat: SERIES });
    await decide({ id: draft.id, revision: 1, decision: "approve" });
    await expect(decide({ id: draft.id, decision: "discard" })).rejects.toThrow(
      /To end the series, call decide_draft with stop/,
    );
    await decide({ id: draft.id, decision: "stop" });
    await expect(decide({ id: draft.id, decision: "stop" })).rejects.toThrow(
      "The draft is ended already. Nothing is to be done.",
    );
  });
});

it("a refused submit says that nothing was saved, and how it is", async () => {
  await expect(save({ scheduledAt: "2020-01-01T09:00:00Z", submit: true })).rejects.toThrow(
    /in the past.* Nothing of this call was saved\. Without submit it is kept as it is\.$/,
  );
  await expect(save({ targets: [], submit: true })).rejects.toThrow(/Nothing of this call was saved/);
  expect((await service.call("list_drafts", {})).drafts).toEqual([]);
});

it("another time takes the place of a slot or a series, and two at once are refused", async () => {
  const { draft } = await save({ slot: "next" });
  const changed = await service.call("save_draft", { id: draft.id, revision: 1, repeat: SERIES });
  expect(changed.draft).toMatchObject({ slot: null, repeat: SERIES, scheduledAt: null });
  const timed = { id: draft.id, revision: 2, scheduledAt: `${DAY}T09:00:00Z` };
  expect((await service.call("save_draft", timed)).draft).toMatchObject({
    repeat: null,
    scheduledAt: `${DAY}T09:00:00.000Z`,
  });
  await expect(save({ slot: "next", repeat: SERIES })).rejects.toThrow(/^slot, repeat: give one of them/);
});

it("a series tells its first day, and is found by its texts", async () => {
  const { draft, warnings } = await save({ caption: null, repeat: { ...SERIES, from: "2027-02-01" } });
  expect(warnings).toEqual([
    "The first of the series is on Monday 1 February 2027, 09:00 (UTC).",
    expect.stringMatching(/^repeat\.texts: after its last text .* it has no end\./),
  ]);
  const { drafts } = await service.call("list_drafts", { search: "okapi" });
  expect(drafts.map(({ id }: any) => id)).toEqual([draft.id]);
});

describe("drafts that wait for a person", () => {
  it("are told of to who moves or cancels the posts of their time, and stay", async () => {
    const friday = { from: DAY, to: DAY };
    await save({ scheduledAt: `${DAY}T10:00`, submit: true, labels: ["launch"] });
    await save({ scheduledAt: `${DAY}T10:00` });
    await save({ scheduledAt: "2027-02-05T10:00", submit: true });
    for (const args of [friday, { ...friday, accountId: [accountId] }, { ...friday, label: ["launch"] }]) {
      const { changed, warnings } = await service.call("change_posts", { ...args, cancel: true });
      expect(changed).toEqual([]);
      expect(warnings).toEqual([
        "No waiting post fits, so nothing was changed.",
        expect.stringMatching(/^1 draft that fits waits for a person .*: the draft .*\. Look at list_drafts/),
      ]);
    }
    const other = await service.addFeed();
    for (const args of [
      { ...friday, accountId: [other] },
      { ...friday, label: ["else"] },
      { to: "2027-01-28" },
    ])
      expect((await service.call("change_posts", { ...args, cancel: true })).warnings).toHaveLength(1);
    const { drafts } = await service.call("list_drafts", { state: ["waiting"] });
    expect(drafts).toHaveLength(2);
  });

  it("are counted by get_status, as far as the caller sees them", async () => {
    await save({ submit: true, scheduledAt: `${DAY}T10:00` });
    await save({});
    expect((await service.call("get_status", {})).counts.draftsWaiting).toBe(1);
    const elsewhere = await service.call("get_status", {}, { accountIds: [await service.addFeed()] });
    expect(elsewhere.counts.draftsWaiting).toBe(0);
  });
});
