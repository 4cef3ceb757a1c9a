import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/domain/permissions.ts";
import { queryOf } from "../../support/handles.ts";
import { startService, type Service } from "../../support/service.ts";

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

describe("a decision tells what it did, as no person may have been asked", () => {
  it("to end a series: how many posts were cancelled, and how many of them a person had changed", async () => {
    const repeat = { unit: "day", time: "09:30", times: 4 };
    const { draft } = await save({ repeat });
    const { posts } = (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft;
    await service.clock.advance(1_000);
    await service.call("update_post", { id: posts[1].id, caption: "By hand" });
    const { warnings } = await decide({ id: draft.id, decision: "stop" });
    expect(warnings).toEqual([
      'The series "Hello" is ended, and 4 waiting posts of it are cancelled; 1 of them had been changed since it was made.',
    ]);
    const empty = await save({ repeat: { ...SERIES, from: "2027-02-01" } });
    const first = (await decide({ id: empty.draft.id, revision: 1, decision: "approve" })).draft.posts[0];
    await service.call("cancel_post", { id: first.id });
    expect((await decide({ id: empty.draft.id, decision: "stop" })).warnings).toEqual([
      'The series "Zebra" is ended. None of its posts waited.',
    ]);
  });

  it("to put drafts away: whose they were, and that they waited, of each of several too", async () => {
    const one = (await save({ title: "Opening", submit: true, scheduledAt: `${DAY}T09:00` })).draft;
    const two = (await save({ caption: "Two" })).draft;
    const drafts = [one, two].map(({ id, revision }) => ({ id, revision }));
    const { warnings } = await decide({ drafts, decision: "discard" });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The draft "Opening" by .+, which waited for a decision, is discarded\. It cannot/,
      ),
      expect.stringMatching(/^The draft "Two" by [^,]+ is discarded\. It cannot/),
    ]);
  });

  it("to send one back: that the writer gets no reason, where none is given", async () => {
    const { draft } = await save({ submit: true, scheduledAt: `${DAY}T09:00` });
    const first = await decide({ id: draft.id, revision: 1, decision: "changes" });
    expect(first.warnings).toEqual([
      expect.stringMatching(/^No note was given, .*once more, with a note\.$/),
    ]);
    const again = await decide({ id: draft.id, revision: 2, decision: "changes", note: "Shorter" });
    expect(again.warnings).toBeUndefined();
  });
});

const questionOf = (args: object) => service.questionOf("decide_draft", args);

describe("what was approved", () => {
  it("says so where its content is changed, or another one is sent again", async () => {
    const { draft } = await save({ submit: true, scheduledAt: `${DAY}T09:00` });
    const [post] = (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft.posts;
    const { id } = post;
    const told =
      "It was approved as a draft with other content: what goes out now was not approved. Tell who approved it.";
    const update = (args: object) => service.call("update_post", { id, ...args });
    expect((await update({ scheduledAt: `${DAY}T10:00` })).warnings).not.toContain(told);
    expect((await update({ caption: "Other", dryRun: true })).warnings).toContain(told);
    expect((await update({ caption: "Other" })).warnings).toContain(told);
    await queryOf(service.ctx.store)
      .updateTable("posts")
      .set({ status: "failed", next_at: null })
      .where("id", "=", id)
      .execute();
    const again = { id, caption: "Third", scheduledAt: `${DAY}T11:00` };
    expect((await service.call("retry_post", again)).warnings).toContain(told);
  });

  it("says nothing of it to the one who scheduled it without asking", async () => {
    const { draft } = await save({ scheduledAt: `${DAY}T12:00` });
    const [post] = (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft.posts;
    const { warnings } = await service.call("update_post", { id: post.id, caption: "Other text" });
    expect(warnings ?? []).not.toContainEqual(expect.stringContaining("was not approved"));
  });
});

it("a series says why a nearer day is passed over", async () => {
  // A Saturday.
  const repeat = { unit: "week", every: 2, days: ["mon"], time: "09:00", times: 3 };
  const { warnings } = await save({ repeat });
  expect(warnings).toContain(
    "The first of the series is on Monday 30 November 2026, 09:00 (UTC), and not on Mon 23 Nov 2026, because its weeks are counted from that of Sat 21 Nov 2026. Give another from if that was not meant.",
  );
  const weekly = await save({ caption: "Other", repeat: { ...repeat, every: 1 } });
  expect(weekly.warnings).toContain("The first of the series is on Monday 23 November 2026, 09:00 (UTC).");
});

describe("a draft whose posts wait no more says what they are, whatever is wanted of it", () => {
  const URL_THERE = "https://feed.example/p/1";
  const WISHES = [
    ["save_draft", { revision: 2, caption: "Other" }],
    ["decide_draft", { revision: 2, decision: "discard" }],
    ["decide_draft", { revision: 2, decision: "changes" }],
    ["decide_draft", { decision: "stop" }],
  ] as const;

  async function approved(): Promise<{ id: string; posts: { id: string }[] }> {
    const more = await service.addFeed();
    const { draft } = await save({
      scheduledAt: `${DAY}T09:00`,
      targets: [{ accountId }, { accountId: more }],
    });
    return (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft;
  }

  const set = (id: string | undefined, change: object): Promise<unknown> =>
    queryOf(service.ctx.store)
      .updateTable("posts")
      .set(change)
      .where("id", "=", id ?? "")
      .execute();

  it.each(WISHES)("%s %o", async (tool, args) => {
    const { draft } = await save({ scheduledAt: `${DAY}T09:00` });
    const { posts } = (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft;
    const said = async (change: object): Promise<string> => {
      await set(posts[0].id, change);
      return service.call(tool, { id: draft.id, ...args }).then(String, (error: Error) => error.message);
    };
    const live = await said({ status: "published", platform_url: URL_THERE });
    expect(live).toContain(
      `None of its posts waits any more. Its post is published already, at ${URL_THERE}. Call get_post with id "${posts[0].id}" to read it. Change it with edit_published_post. To delete it on the platform, call cancel_post with fromPlatform.`,
    );
    expect(live).not.toMatch(/is scheduled|write a new one|update_post/);
    expect(await said({ status: "failed" })).toMatch(/ Its post failed\. Call get_post .* call retry_post/);
    expect(await said({ in_doubt: 1 })).toMatch(/ it is not known whether it is out\. .*resolve_post\.$/);
    expect(await said({ status: "publishing" })).toMatch(/ Its post is on its way\.$/);
    expect(await said({ status: "cancelled", in_doubt: 0 })).toMatch(
      / Its post is cancelled\. Only where it is wanted after all, write a new one\.$/,
    );
  });

  it.each(WISHES)("%s %o, of each of several", async (tool, args) => {
    const { id, posts } = await approved();
    await set(posts[0]?.id, { status: "published", platform_url: URL_THERE });
    const call = (): Promise<unknown> => service.call(tool, { id, ...args });
    await expect(call()).rejects.toThrow(
      /1 of its 2 posts is published already, at https:\/\/feed\.example\/p\/1\. .* 1 of its 2 posts still waits\. .*update_post/,
    );
    await set(posts[1]?.id, { status: "cancelled" });
    await expect(call()).rejects.toThrow(
      /None of its posts waits any more\. .* 1 of its 2 posts is cancelled\.$/,
    );
  });
});

describe("texts that never have their turn", () => {
  const repeat = { unit: "day", time: "09:00", times: 2, texts: ["One", "Two", "Three"] };

  it.each([
    [{ times: 2 }, "The last text never goes out: the series ends after 2 times."],
    [{ times: 1 }, "The last 2 texts never go out: the series ends after 1 time."],
    [
      { times: undefined, from: DAY, until: DAY },
      "The last 2 texts never go out: the series ends after 1 time.",
    ],
  ])("are told at the save, and in the question: %j", async (end, told) => {
    const { draft, warnings } = await save({ caption: undefined, repeat: { ...repeat, ...end } });
    expect(warnings).toContain(told);
    expect(await questionOf({ id: draft.id, revision: 1, decision: "approve" })).toContain(told);
  });

  it("are none where each has one", async () => {
    const { warnings } = await save({ caption: undefined, repeat: { ...repeat, times: 3 } });
    expect(warnings.join()).not.toContain("never");
  });
});

describe("an approval of what was sent back", () => {
  it("asks with who sent it back, why, and that it is as it was", async () => {
    const { draft } = await save({ submit: true, scheduledAt: `${DAY}T09:00` });
    await decide({ id: draft.id, revision: 1, decision: "changes", note: "Not on a Friday" });
    const approve = { id: draft.id, revision: 2, decision: "approve" };
    const told =
      /It was sent back for changes by .+ on Saturday 21 November 2026, .*, with the note “Not on a Friday”, and was not changed since\./;
    expect(await questionOf(approve)).toMatch(told);
    const { draft: other } = await save({ caption: "Other" });
    const drafts = [
      { id: draft.id, revision: 2 },
      { id: other.id, revision: 1 },
    ];
    expect(await questionOf({ drafts, decision: "approve" })).toMatch(told);
    await service.call("save_draft", { id: draft.id, revision: 2, caption: "Hi" });
    expect(await questionOf({ ...approve, revision: 3 })).toMatch(
      /and was changed since, but not submitted again/,
    );
    await service.call("save_draft", { id: draft.id, revision: 3, submit: true });
    expect(await questionOf({ ...approve, revision: 4 })).not.toMatch(/sent back/);
  });
});

describe("a change that comes too late", () => {
  const change = (id: string, revision: number): Promise<unknown> =>
    service.call("save_draft", { id, revision, caption: "Other" });

  it("of a series is told to end it and write a new one, and of one that ended to write a new one", async () => {
    const { draft } = await save({ repeat: SERIES });
    await decide({ id: draft.id, revision: 1, decision: "approve" });
    await expect(change(draft.id, 2)).rejects.toThrow(
      /call decide_draft with stop; to change it, .*save_draft/,
    );
    await decide({ id: draft.id, decision: "stop" });
    await expect(change(draft.id, 3)).rejects.toThrow(
      /^The draft is ended, so it cannot be changed\. None of its posts waits any more\. .* write a new one\.$/,
    );
  });

  it("is told of the posts as far as they still wait", async () => {
    const { draft } = await save({ scheduledAt: `${DAY}T09:00` });
    const { posts } = (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft;
    await expect(change(draft.id, 2)).rejects.toThrow(/Change its posts with update_post/);
    await service.call("cancel_post", { id: posts[0].id });
    await expect(change(draft.id, 2)).rejects.toThrow(/None of its posts waits any more\./);
    await expect(decide({ id: draft.id, revision: 1, decision: "approve" })).rejects.toThrow(
      "The draft was approved already, and is cancelled. Nothing is to be done.",
    );
  });

  it("approved again, is told as live where it is, and not as done where it failed", async () => {
    const { draft } = await save({});
    const { posts } = (await decide({ id: draft.id, revision: 1, decision: "approve" })).draft;
    const again = (): Promise<unknown> => decide({ id: draft.id, revision: 1, decision: "approve" });
    const set = (status: "published" | "failed"): Promise<unknown> =>
      queryOf(service.ctx.store).updateTable("posts").set({ status }).where("id", "=", posts[0].id).execute();
    await set("published");
    await expect(again()).rejects.toThrow("The draft was approved already, and is published. Nothing is to");
    await set("failed");
    await expect(again()).rejects.toThrow(
      "The draft was approved already. Its posts failed. Read it with list_drafts.",
    );
  });
});

it("an empty draft is told as one", async () => {
  const { warnings } = await service.call("save_draft", {});
  expect(warnings).toEqual([
    expect.stringMatching(/^The draft is empty: .* Give caption or mediaUrl, and targets\.$/),
  ]);
  expect((await save({})).warnings).toEqual([]);
});

it("ids of drafts and of posts are told apart", async () => {
  const { draft } = await save({});
  for (const tool of ["get_post", "cancel_post"])
    await expect(service.call(tool, { id: draft.id })).rejects.toThrow(
      / is the id of a draft, not of a post\. Read it with list_drafts\. .*decide_draft with discard\.$/,
    );
  await expect(service.call("list_drafts", { id: "post_1" })).rejects.toThrow(
    'id: "post_1" is the id of a post, not of a draft. Call get_post with id "post_1" to read it.',
  );
});

it("a series that misses today says why it begins later", async () => {
  const first = async (repeat: object): Promise<string> =>
    (await save({ repeat: { unit: "day", time: "08:00", times: 3, ...repeat } })).warnings[0];
  const today = { from: "2026-11-21" };
  for (const repeat of [{}, today])
    expect(await first(repeat)).toMatch(
      /on Sunday 22 November 2026, 08:00 \(UTC\), because 08:00 of today is over\.$/,
    );
  expect(await first({ unit: "month", ...today })).toMatch(/on Monday 21 December .*because 08:00 of today/);
  expect(await first({ unit: "week", days: ["mon"], ...today })).not.toMatch(/because/);
  expect(await first({ time: "23:00", ...today })).not.toMatch(/because/);
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
