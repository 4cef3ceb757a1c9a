import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentsWordsFor } from "../../../src/toolkit/words.ts";
import { z } from "zod";
import { loadCatalog } from "../../../src/app/setup.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { createToolbox, type Toolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf, rowsOf } from "../../support/handles.ts";
import { addAccount } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const { tools } = await loadCatalog();

const plain = scriptedPlatform({
  name: "plain",
  title: "Plain",
  capabilities: TEXT_CAPABILITIES,
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
});
const titled = scriptedPlatform({
  name: "titled",
  title: "Titled",
  capabilities: TEXT_CAPABILITIES,
  metadata: z.strictObject({ title: z.string().max(100).optional(), board: z.string().optional() }),
  check: ({ metadata }) => ({
    errors: metadata.title === undefined ? ["metadata.title: is required here."] : [],
    warnings: [],
  }),
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
});

const LATER = "2027-03-01T09:00:00.000Z";

let ctx: TestContext;
let toolbox: Toolbox;
let blog: string;
let wall: string;

beforeEach(async () => {
  ctx = await createTestContext({ platformList: [plain, titled] });
  toolbox = createToolbox(ctx, tools);
  blog = (await addAccount(ctx, { id: "acc_blog", name: "Blog", provider: "plain" })).id;
  wall = (await addAccount(ctx, { id: "acc_wall", name: "Wall", provider: "titled" })).id;
});
afterEach(() => ctx[Symbol.asyncDispose]());

async function call(
  tool: string,
  args: object,
  caller: Partial<Caller> = {},
  options: { readonly tellsZone?: boolean } = {},
): Promise<any> {
  return (await toolbox.call(tool, args, callerOf(caller), options)).result;
}

async function save(args: object, caller?: Partial<Caller>): Promise<any> {
  return (await call("save_draft", args, caller)).draft;
}

async function decide(args: object, caller?: Partial<Caller>): Promise<any> {
  return (await call("decide_draft", args, caller)).draft;
}

function posts(): Promise<any[]> {
  return rowsOf(ctx.store, "SELECT * FROM posts ORDER BY account_id");
}

const WRITER: Partial<Caller> = { keyId: "key_writer", permissions: ["read", "draft", "files"] };

describe("save_draft", () => {
  it("says that a change takes a waiting draft back", async () => {
    const args = { caption: "One", targets: [{ accountId: blog }], scheduledAt: LATER, submit: true };
    const { id } = await save(args);
    const changed = await call("save_draft", { id, revision: 1, caption: "Two" });
    expect([changed.draft.state, changed.warnings]).toEqual([
      "open",
      ["The draft no longer waits for a person. Send it with submit to ask them again."],
    ]);
    const again = await call("save_draft", { id, revision: 2, submit: true });
    expect([again.draft.state, again.warnings]).toEqual(["waiting", []]);
  });

  it.each([{ paused: 1 }, { status: "reconnect_required" as const }])(
    "tells the state of a channel only while it is so: %j",
    async (state) => {
      const warningsOf = async (id: string): Promise<unknown> =>
        (await call("list_drafts", { id })).drafts[0].checks[0].warnings;
      await queryOf(ctx.store).updateTable("accounts").set(state).where("id", "=", blog).execute();
      const { id } = await save({ caption: "One", targets: [{ accountId: blog }], scheduledAt: LATER });
      expect(await warningsOf(id)).toHaveLength(1);
      const usable = { paused: 0, status: "connected" as const };
      await queryOf(ctx.store).updateTable("accounts").set(usable).where("id", "=", blog).execute();
      expect(await warningsOf(id)).toEqual([]);
    },
  );

  it("keeps what is incomplete, and says for each channel what is missing", async () => {
    const draft = await save({ caption: "Hello", targets: [{ accountId: "Blog" }, { accountId: wall }] });
    expect(draft).toMatchObject({
      state: "open",
      revision: 1,
      targets: [{ accountId: blog, caption: null }, { accountId: wall }],
      writtenBy: { keyId: "local", name: "This machine" },
      decision: null,
      posts: [],
      outcome: null,
    });
    expect(draft.checks).toEqual([
      expect.objectContaining({
        accountId: blog,
        error: null,
        warnings: [],
        preview: expect.objectContaining({
          text: "Hello",
          count: { length: 5, max: 300, unit: "graphemes" },
        }),
      }),
      expect.objectContaining({
        accountId: wall,
        error: expect.stringMatching(/^metadata\.title: /),
        warnings: [],
      }),
    ]);
    expect(await posts()).toEqual([]);
  });

  it("changes what is given and empties what is null", async () => {
    const first = await save({
      title: "Plan",
      caption: "One",
      metadata: { title: "T", tags: ["a"] },
      targets: [{ accountId: blog }],
      scheduledAt: LATER,
      labels: ["launch", "launch"],
      note: "Careful",
    });
    expect(first.labels).toEqual(["launch"]);
    const second = await save({
      id: first.id,
      revision: 1,
      caption: "Two",
      metadata: { tags: null },
      note: null,
    });
    expect(second).toMatchObject({
      revision: 2,
      title: "Plan",
      caption: "Two",
      metadata: { title: "T" },
      note: null,
      scheduledAt: LATER,
      labels: ["launch"],
    });
    expect(second.targets).toEqual(first.targets);
  });

  it("leaves a shared key out where the platform does not know it, and refuses an own one", async () => {
    const draft = await save({
      caption: "Hi",
      metadata: { title: "T", board: "b" },
      targets: [{ accountId: blog }, { accountId: wall }],
    });
    expect(draft.checks[0]).toMatchObject({
      error: null,
      warnings: ["metadata.board: Plain has no such field, so it is left out there."],
    });
    expect(draft.checks[1]).toMatchObject({ error: null, warnings: [] });
    const own = await save({ caption: "Hi", targets: [{ accountId: blog, metadata: { board: "b" } }] });
    expect(own.checks[0].error).toMatch(/metadata.*board/);
  });

  it("lets a channel have another text, medium, time and fields, or none", async () => {
    const { id } = await save({
      caption: "Long",
      metadata: { title: "Shared" },
      scheduledAt: LATER,
      targets: [
        { accountId: blog, caption: "Short", scheduledAt: "2027-03-02T09:00:00Z" },
        { accountId: wall, metadata: { title: "Own" } },
      ],
    });
    await decide({ id, revision: 1, decision: "approve" });
    const [onBlog, onWall] = await posts();
    expect(onBlog).toMatchObject({ caption: "Short", scheduled_at: Date.parse("2027-03-02T09:00:00Z") });
    expect(JSON.parse(onBlog.metadata)).toEqual({ title: "Shared" });
    expect(onWall).toMatchObject({ caption: "Long", scheduled_at: Date.parse(LATER) });
    expect(JSON.parse(onWall.metadata)).toEqual({ title: "Own" });
  });

  it("waits for a person once it is submitted, and only where every check passes", async () => {
    const incomplete = { caption: "Hi", targets: [{ accountId: blog }, { accountId: wall }], submit: true };
    await expect(save(incomplete)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/^The draft cannot be scheduled as it is. Wall: metadata.title/),
    });
    await expect(save({ caption: "Hi", submit: true })).rejects.toThrow(
      /^targets: the draft goes nowhere yet/,
    );
    expect((await call("list_drafts", {})).drafts).toEqual([]);
    const waiting = await save({ ...incomplete, metadata: { title: "T" } });
    expect(waiting).toMatchObject({ state: "waiting", revision: 1 });
    expect(await save({ id: waiting.id, revision: 1, caption: "Changed" })).toMatchObject({ state: "open" });
    expect(await save({ id: waiting.id, revision: 2, submit: true })).toMatchObject({
      state: "waiting",
      revision: 3,
    });
  });

  it("refuses a stale revision and says what was changed since", async () => {
    const { id } = await save({ caption: "One" });
    await save({ id, revision: 1, caption: "Two", labels: ["x"] }, WRITER);
    const stale = await save({ id, revision: 1, note: "Mine" }).catch((error: unknown) => error);
    expect(stale).toMatchObject({ kind: "conflict" });
    expect(agentsWordsFor(stale)).toBe(
      "revision: 1 is not the last one. The draft is at 2, open. Since then: A key changed caption, labels. Read it with list_drafts, then send 2.",
    );
    await expect(save({ id, caption: "Three" })).rejects.toThrow(/^revision: is required/);
    await expect(save({ id, revision: 2 })).rejects.toThrow(/^Nothing to change/);
    await expect(save({ revision: 2, caption: "New" })).rejects.toThrow(/^revision: belongs to a draft/);
  });

  it.each([
    {},
    { revision: 1 },
    { revision: 1, scheduledAt: "soon" },
    { revision: 1, scheduledAt: LATER, slot: "next" },
    { revision: 1, mediaUrl: "file:///etc/passwd" },
    { revision: 1, metadata: { thumbnailUrl: "ftp://a.example/b.png" } },
    { revision: 1, repeat: { unit: "day", time: "09:00", days: ["mon"] } },
    { revision: 1, targets: [{ accountId: "acc_none", scheduledAt: "soon" }] },
    { revision: 1, targets: [{ accountId: "acc_none", mediaUrl: "file:///etc/passwd" }] },
  ])("refuses the form of %j before it looks the draft up, and before what it is at", async (args) => {
    await expect(save({ id: "dft_none", ...args })).rejects.toMatchObject({ kind: "invalid" });
    const { id } = await save({ caption: "One" });
    await decide({ id, revision: 1, decision: "discard" });
    await expect(save({ id, ...args })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("keeps its time, its slot and its series where an empty text stands in their place", async () => {
    const repeat = { unit: "day", time: "09:00" };
    const { id } = await save({ caption: "One", repeat });
    const emptied = await save({
      id,
      revision: 1,
      caption: "",
      slot: "",
      repeat: "",
      metadata: "",
      labels: "",
    });
    expect(emptied).toMatchObject({ caption: null, repeat });
    expect(await save({ id, revision: 2, repeat: null, slot: "next" })).toMatchObject({ repeat: null });
    expect(await save({ id, revision: 3, note: "n", slot: "" })).toMatchObject({ slot: "next" });
  });

  it.each([
    [{ targets: [{ accountId: "acc_none" }] }, "not_found", /^targets\[0\].accountId: there is no account/],
    [
      { targets: [{ accountId: "Blog" }, { accountId: "acc_blog" }] },
      "invalid",
      /^targets\[1\].accountId: the channel Blog on Plain is in the list/,
    ],
    [{ mediaUrl: "file:///etc/passwd" }, "invalid", /^mediaUrl: /],
    [{ targets: [{ accountId: "Blog", mediaUrl: "file_none" }] }, "not_found", /^targets\[0\].mediaUrl: /],
    [{ scheduledAt: "soon" }, "invalid", /^scheduledAt: /],
    [
      { targets: [{ accountId: "Blog", scheduledAt: "21.11.2026" }] },
      "invalid",
      /^targets\[0\].scheduledAt: /,
    ],
    [
      { scheduledAt: LATER, repeat: { unit: "day", time: "09:00" } },
      "invalid",
      /^scheduledAt, repeat: give one of them/,
    ],
    [{ repeat: { unit: "day", time: "09:00", days: ["mon"] } }, "invalid", /^repeat.days: /],
    [{ repeat: { unit: "day", time: "09:00", timezone: "Mars/Olympus" } }, "invalid", /^repeat.timezone: /],
    [
      { repeat: { unit: "day", time: "09:00", until: "2027-01-01", times: 3 } },
      "invalid",
      /^repeat.until, repeat.times: /,
    ],
    [{ repeat: { unit: "day", time: "09:00", from: "2027-02-30" } }, "invalid", /^repeat.from: /],
    [{ colour: "red" }, "invalid", /colour/],
  ])("refuses %j", async (args, kind, message) => {
    await expect(save(args)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
  });
});

describe("decide_draft", () => {
  async function ready(more: object = {}): Promise<{ id: string; revision: number }> {
    const content = {
      caption: "Hello",
      metadata: { title: "T" },
      targets: [{ accountId: blog }, { accountId: wall }],
      scheduledAt: LATER,
      labels: ["launch"],
      note: "Secret plan",
      ...more,
    };
    return save({ ...content, submit: true }, WRITER);
  }

  it("schedules all posts with the decision, and the draft is their group from then on", async () => {
    const { id } = await ready();
    const draft = await decide({ id, revision: 1, decision: "approve", note: "Good" });
    expect(draft).toMatchObject({
      state: "scheduled",
      revision: 2,
      outcome: "waiting",
      decision: { what: "approved", by: { keyId: "local" }, note: "Good", revision: 1 },
      posts: [
        { accountId: blog, status: "scheduled", scheduledAt: LATER },
        { accountId: wall, status: "scheduled", scheduledAt: LATER },
      ],
    });
    const [{ id: postId }] = draft.posts;
    const answer = await call("get_post", { id: postId });
    expect(answer).toMatchObject({ draftId: id, labels: ["launch"], note: "Secret plan" });
    expect(Object.keys(answer.post)).not.toContain("labels");
    expect((await call("list_posts", { draftId: id })).posts).toHaveLength(2);
    expect((await call("list_posts", { label: ["launch"] })).posts).toHaveLength(2);
    expect((await call("list_posts", { label: ["other"] })).posts).toEqual([]);
    expect((await call("list_posts", { search: "secret plan" })).posts).toHaveLength(2);
    await call("update_post", { id: postId, caption: "Another" });
    expect((await call("list_posts", { search: "launch another" })).posts).toHaveLength(1);
    await expect(save({ id, revision: 2, caption: "Late" })).rejects.toMatchObject({ kind: "conflict" });
  });

  it("schedules none where one cannot be, with every reason", async () => {
    const { id } = await save({
      caption: "x".repeat(301),
      targets: [{ accountId: blog }, { accountId: wall, caption: "Fine" }],
    });
    await expect(decide({ id, revision: 1, decision: "approve" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/Blog: caption: has 301 graphemes.*Wall: metadata.title/),
    });
    expect(await posts()).toEqual([]);
    expect((await call("list_drafts", { id })).drafts[0]).toMatchObject({ state: "open", decision: null });
  });

  it("refuses a time that has passed and takes another", async () => {
    const { id } = await ready();
    ctx.clock.jumpTo("2027-03-01T10:00:00Z");
    await expect(decide({ id, revision: 1, decision: "approve" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/scheduledAt: .* is in the past/),
    });
    await expect(
      decide({ id, revision: 1, decision: "approve", scheduledAt: "2020-01-01T00:00:00Z" }),
    ).rejects.toMatchObject({ kind: "invalid" });
    const at = "2027-04-01T09:00:00.000Z";
    const draft = await decide({ id, revision: 1, decision: "approve", scheduledAt: at });
    expect(draft.posts.map(({ scheduledAt }: { scheduledAt: string }) => scheduledAt)).toEqual([at, at]);
  });

  it("names the zone that a time without an offset was read in, where programs are told it", async () => {
    const first = await ready();
    const second = await ready({ caption: "Second" });
    const given = { decision: "approve", scheduledAt: "2027-02-01T09:00" };
    const told = { warnings: [expect.stringMatching(/^scheduledAt has no offset\. It was read as /)] };
    const tells = { tellsZone: true };
    expect(await call("decide_draft", { id: first.id, revision: 1, ...given }, {}, tells)).toMatchObject(
      told,
    );
    const several = { drafts: [{ id: second.id, revision: 1 }], ...given };
    expect(await call("decide_draft", several, {}, tells)).toMatchObject(told);
    const third = await ready({ caption: "Third" });
    const untold = await call("decide_draft", { id: third.id, revision: 1, ...given });
    expect(untold).not.toHaveProperty("warnings");
  });

  it("sends it back with a note, and discards it", async () => {
    const { id } = await ready();
    expect(await decide({ id, revision: 1, decision: "changes", note: "Shorter" })).toMatchObject({
      state: "open",
      decision: { what: "changes", note: "Shorter" },
    });
    expect(await decide({ id, decision: "discard" })).toMatchObject({ state: "discarded", revision: 3 });
    for (const decision of ["approve", "changes"])
      await expect(decide({ id, revision: 3, decision })).rejects.toMatchObject({ kind: "conflict" });
    await expect(decide({ id, decision: "stop" })).rejects.toThrow(/is discarded, so it cannot/);
    await expect(decide({ id, decision: "discard" })).rejects.toThrow(
      /^The draft is discarded already\. Nothing is to be done\.$/,
    );
    expect(await posts()).toEqual([]);
  });

  it("needs the revision that the person saw", async () => {
    const { id } = await ready();
    await save({ id, revision: 1, caption: "Swapped", submit: true }, WRITER);
    await expect(decide({ id, revision: 1, decision: "approve" })).rejects.toMatchObject({
      kind: "conflict",
    });
    await expect(decide({ id, decision: "approve" })).rejects.toThrow(/^revision: is required/);
    await expect(decide({ id, revision: 1, decision: "discard" })).rejects.toMatchObject({
      kind: "conflict",
    });
    expect(await posts()).toEqual([]);
  });

  it.each([
    { decision: "approve" },
    { decision: "changes" },
    { decision: "changes", revision: 9, scheduledAt: LATER },
    { decision: "approve", revision: 9, scheduledAt: "soon" },
    { decision: "approve", revision: 9, scheduledAt: "2020-01-01T00:00:00Z" },
    { decision: "approve", revision: 9, scheduledAt: LATER, slot: "next" },
  ])("refuses the form of %j before it looks the draft up, and before what it is at", async (args) => {
    const { id } = await ready();
    for (const one of [id, "dft_none"])
      await expect(decide({ id: one, ...args })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("makes one set of posts of two approvals at once, and of one beside a change", async () => {
    const first = await ready();
    const both = await Promise.allSettled(
      [1, 2].map(() => decide({ id: first.id, revision: 1, decision: "approve" })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await posts()).toHaveLength(2);
    const second = await ready({ caption: "Second" });
    const raced = await Promise.allSettled([
      decide({ id: second.id, revision: 1, decision: "approve" }),
      save({ id: second.id, revision: 1, caption: "Swapped" }, WRITER),
    ]);
    expect(raced.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await posts()).filter(({ caption }) => caption === "Swapped")).toEqual([]);
  });

  it("takes the next free slot of each channel, also where a person says so first then", async () => {
    const slots = [{ days: ["mon", "tue", "wed", "thu", "fri"], times: ["09:30", "17:00"] }];
    await call("update_account", { accountId: blog, schedule: { timezone: "Europe/Berlin", slots } });
    const inSlots = await ready({ scheduledAt: null, slot: "next", targets: [{ accountId: blog }] });
    const first = await decide({ id: inSlots.id, revision: 1, decision: "approve" });
    expect(first.posts.map(({ scheduledAt }: any) => scheduledAt)).toEqual(["2026-11-23T08:30:00.000Z"]);
    const later = await ready({ targets: [{ accountId: blog }] });
    const second = await decide({ id: later.id, revision: 1, decision: "approve", slot: "next" });
    expect(second.posts[0].scheduledAt).toBe("2026-11-23T16:00:00.000Z");
    const none = await ready({ scheduledAt: null, slot: "next" }).catch(agentsWordsFor);
    expect(none).toMatch(
      /Wall: slot: the channel Wall on Titled has no slots\. Set slots with update_account/,
    );
  });

  it("goes out at once where no time is given", async () => {
    const { id } = await ready({ scheduledAt: null });
    const draft = await decide({ id, revision: 1, decision: "approve" });
    expect(draft.posts[0].scheduledAt).toBe(new Date(ctx.clock.now()).toISOString());
  });

  it("derives what became of the posts", async () => {
    const { id } = await ready();
    const { posts: made } = await decide({ id, revision: 1, decision: "approve" });
    const outcome = async (...statuses: string[]): Promise<unknown> => {
      for (const [at, status] of statuses.entries())
        await rowsOf(ctx.store, `UPDATE posts SET status = '${status}' WHERE id = '${made[at].id}'`);
      return (await call("list_drafts", { id })).drafts[0].outcome;
    };
    expect(await outcome("published", "scheduled")).toBe("waiting");
    expect(await outcome("published", "published")).toBe("published");
    expect(await outcome("published", "failed")).toBe("partly");
    expect(await outcome("failed", "failed")).toBe("failed");
    expect(await outcome("published", "cancelled")).toBe("published");
    expect(await outcome("cancelled", "cancelled")).toBe("cancelled");
  });

  it("is not offered to a writer", async () => {
    const { id } = await ready();
    await expect(decide({ id, revision: 1, decision: "approve" }, WRITER)).rejects.toMatchObject({
      kind: "forbidden",
    });
  });
});

describe("list_drafts", () => {
  it("finds by state, label, channel and words, a page at a time", async () => {
    for (const [at, accountId] of [blog, wall, blog].entries()) {
      await ctx.clock.advance(1_000);
      await save({
        caption: `Text ${at}`,
        labels: [`l${at}`],
        note: "Überraschung",
        targets: [{ accountId }],
      });
    }
    const captions = async (args: object): Promise<string[]> =>
      (await call("list_drafts", args)).drafts.map(({ caption }: { caption: string }) => caption);
    expect(await captions({})).toEqual(["Text 2", "Text 1", "Text 0"]);
    expect(await captions({ accountId: "Wall" })).toEqual(["Text 1"]);
    expect(await captions({ label: "l0" })).toEqual(["Text 0"]);
    expect(await captions({ search: "uberr text" })).toHaveLength(3);
    expect(await captions({ search: "l2" })).toEqual(["Text 2"]);
    expect(await captions({ state: ["waiting"] })).toEqual([]);
    const first = await call("list_drafts", { limit: 2 });
    expect(await captions({ limit: 2, cursor: first.nextCursor })).toEqual(["Text 0"]);
    await expect(call("list_drafts", { cursor: first.nextCursor, label: "l0" })).rejects.toThrow(
      /other filters/,
    );
    await expect(call("list_drafts", { cursor: "nonsense" })).rejects.toThrow(/^cursor/);
  });

  it("shows a limited key only what it may schedule or wrote itself", async () => {
    const both = await save({ caption: "Both", targets: [{ accountId: blog }, { accountId: wall }] });
    await save({ caption: "Blog", targets: [{ accountId: blog }] });
    await save({ caption: "Of nowhere" });
    const limited = { keyId: "key_limited", accountIds: [blog] };
    await save({ caption: "Mine" }, limited);
    const { drafts } = await call("list_drafts", {}, limited);
    expect(drafts.map(({ caption }: { caption: string }) => caption)).toEqual(["Mine", "Blog"]);
    await expect(save({ id: both.id, revision: 1, caption: "x" }, limited)).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(decide({ id: both.id, revision: 1, decision: "approve" }, limited)).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});

it("stands in the calendar while it is undecided, on the days of its times", async () => {
  const inMarch = { caption: "March", scheduledAt: LATER, targets: [{ accountId: blog }] };
  const { id } = await save(inMarch);
  await save({ caption: "Own", targets: [{ accountId: wall, scheduledAt: "2027-03-20T09:00:00Z" }] });
  await save({ caption: "No time", targets: [{ accountId: blog }] });
  const shown = async (args: object): Promise<string[]> =>
    (await call("show_calendar", args)).drafts.map(({ caption }: { caption: string }) => caption);
  const march = { from: "2027-03-01", to: "2027-03-31" };
  expect((await shown(march)).toSorted()).toEqual(["March", "Own"]);
  expect(await shown({ ...march, accountId: ["Wall"] })).toEqual(["Own"]);
  expect(await shown({ from: "2027-04-01" })).toEqual([]);
  expect(await shown({ ...march, status: ["scheduled"] })).toEqual([]);
  await decide({ id, revision: 1, decision: "discard" });
  expect(await shown(march)).toEqual(["Own"]);
});

it("schedules single posts with labels and a note", async () => {
  const { post } = await call("schedule_post", {
    accountId: blog,
    caption: "Hello",
    scheduledAt: LATER,
    labels: ["one", "two"],
    note: "Why",
  });
  expect(await call("get_post", { id: post.id })).toMatchObject({
    draftId: null,
    labels: ["one", "two"],
    note: "Why",
  });
  expect(
    (await call("change_posts", { label: ["two"], shiftMinutes: 5, dryRun: true })).changed,
  ).toHaveLength(1);
  const bare = await call("schedule_post", { accountId: blog, caption: "Bare", scheduledAt: LATER });
  expect(Object.keys(await call("get_post", { id: bare.post.id }))).toEqual(["post"]);
});
