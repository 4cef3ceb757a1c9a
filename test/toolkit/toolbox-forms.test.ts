import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { compactRows } from "../../src/toolkit/short-rows.ts";
import { agentsWordsFor } from "../../src/toolkit/words.ts";
import { createToolbox, type Toolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";

const { tools, platforms } = await loadCatalog();

let ctx: TestContext;
let toolbox: Toolbox;

beforeEach(async () => {
  ctx = await createTestContext({ platformList: platforms });
  await addAccount(ctx.store, { id: "acc_1", name: "Blog", handle: "@alice" });
  await addAccount(ctx.store, { id: "acc_2", name: "Shop" });
  await addAccount(ctx.store, { id: "acc_9", name: "Theirs", ownerId: "other" });
  await addPosts(ctx.store, [
    { id: "post_1", accountId: "acc_1", caption: "One" },
    { id: "post_2", accountId: "acc_2", caption: "Two" },
  ]);
  toolbox = createToolbox(ctx, tools);
});

afterEach(() => ctx[Symbol.asyncDispose]());

async function call(tool: string, args: object, caller = callerOf()): Promise<any> {
  return (await toolbox.call(tool, args, caller)).result;
}

async function listed(args: object, caller = callerOf()): Promise<string[]> {
  return (await call("list_posts", args, caller)).posts.map(({ id }: { id: string }) => id);
}

describe("forms that mean the same", () => {
  it("are taken by every tool", async () => {
    expect(await listed({ status: "scheduled", accountId: "acc_2", limit: "5" })).toEqual(["post_2"]);
    const post = { accountId: "acc_1", caption: 'A "text"', metadata: '{"title":"A"}', dryRun: "true" };
    const { results } = await call("schedule_posts", { posts: JSON.stringify([post]), atomic: "true" });
    expect(results).toMatchObject([{ error: null, post: { metadata: { title: "A" } } }]);
    expect(await listed({})).toHaveLength(2);
  });

  it("are taken within metadata, as the platform has its fields", async () => {
    const metadata = { tags: "one", title: "5" };
    const { post } = await call("schedule_post", {
      accountId: "acc_1",
      caption: "A",
      metadata,
      dryRun: true,
    });
    expect(post.metadata).toEqual({ tags: ["one"], title: "5" });
  });

  it("hide nothing that is refused otherwise", async () => {
    await expect(call("schedule_posts", { posts: '[{"caption":"a\\u0000"}]' })).rejects.toThrow(
      "posts[0].caption: holds the character NUL",
    );
    const deep = `${"[".repeat(100)}${"]".repeat(100)}`;
    await expect(
      call("schedule_post", { accountId: "acc_1", metadata: `{"title":${deep}}` }),
    ).rejects.toThrow("nested deeper");
    await expect(call("get_post", { id: 5 })).rejects.toThrow("id: must be a string.");
  });

  it("name a channel alone, a day and a time as people write them", async () => {
    for (const targets of [["Blog"], "Blog", '["Blog"]']) {
      const { draft } = await call("save_draft", { caption: "A", targets });
      expect(draft.targets).toMatchObject([{ accountId: "acc_1", caption: null }]);
    }
    await expect(call("save_draft", { caption: "A", targets: ["Blgo"] })).rejects.toThrow(
      'targets[0].accountId: there is no channel "Blgo". Did you mean "Blog"? The channels are ',
    );
    const repeat = { unit: "week", days: "Friday", time: "9:30 AM", from: "2027-01-01" };
    const { draft } = await call("save_draft", { caption: "A", targets: ["Blog"], repeat });
    expect(draft.repeat).toMatchObject({ days: ["fri"], time: "09:30" });
    for (const time of ["9", "25:00", "13 pm", "9:60", "noon"])
      await expect(call("save_draft", { repeat: { ...repeat, time } })).rejects.toThrow(
        "repeat.time: must be a time such as 09:30.",
      );
  });

  it("of fields that nobody knows tell where they belong", async () => {
    const odd = { accountId: "acc_1", text: "A", altText: "B", when: "soon" };
    expect(await call("schedule_post", odd).catch(agentsWordsFor)).toMatch(
      /^"text", "altText", "when" are not known fields\. Did you mean caption, metadata\.altText, scheduledAt\? The fields are accountId, /,
    );
    await expect(call("schedule_posts", { posts: [{ accountId: "acc_1", media: "x" }] })).rejects.toThrow(
      /^posts\[0\]: "media" is not a known field\. Did you mean mediaUrl\?/,
    );
  });
});

describe("a channel", () => {
  it.each(["acc_1", "Blog", "blog", "@alice", "alice"])("is found by %s", async (accountId) => {
    const { post } = await call("schedule_post", { accountId, caption: "A", dryRun: true });
    expect(post.accountId).toBe("acc_1");
    expect(await listed({ accountId: [accountId] })).toEqual(["post_1"]);
    expect(
      (await call("show_calendar", { accountId, from: "2026-12-01", to: "2026-12-31" })).posts,
    ).toHaveLength(1);
    expect((await call("get_account_analytics", { accountId, from: "2026-11-01" })).accountId).toBe("acc_1");
  });

  it("of a platform that has several is asked for", async () => {
    const args = { accountId: "feed", caption: "A" };
    await expect(call("schedule_post", args)).rejects.toThrow(
      'accountId: "feed" may be any of "Blog" (feed, @alice, acc_1), "Shop" (feed, acc_2). Give one of these names, or the id.',
    );
    const { results } = await call("schedule_posts", {
      posts: [args, { ...args, accountId: "shop", dryRun: true }],
    });
    expect(results[1].post.accountId).toBe("acc_2");
    expect(results[0].error).toContain("may be any of");
  });

  it("of a limited key's own is found among those", async () => {
    const limited = callerOf({ accountIds: ["acc_2"] });
    expect(await listed({ accountId: "feed" }, limited)).toEqual(["post_2"]);
    await expect(call("schedule_post", { accountId: "Blog", caption: "A" }, limited)).rejects.toThrow(
      'accountId: there is no channel "Blog". The channels are "Shop" (feed, acc_2).',
    );
  });

  it("of somebody else is none", async () => {
    await expect(call("schedule_post", { accountId: "Theirs", caption: "A" })).rejects.toMatchObject({
      kind: "not_found",
    });
    expect(await listed({ accountId: "acc_9" })).toEqual([]);
    await expect(listed({ accountId: "Theirs" })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining('The channels are "Blog"'),
    });
  });
});

describe("short rows", () => {
  const short = async (tool: string, args: object): Promise<any> =>
    (await toolbox.call(tool, args, callerOf(), { hasShortRows: true })).result;

  it("leave out nulls and say the channel's name", async () => {
    const { posts, nextCursor } = await short("list_posts", { search: "one" });
    expect(nextCursor).toBeNull();
    const [whole] = (await call("list_posts", { search: "one" })).posts;
    const told = Object.entries(whole).filter(([, value]) => value !== null);
    expect(posts).toEqual([{ ...Object.fromEntries(told), accountName: "Blog" }]);
    expect(Object.keys(posts[0]).slice(0, 3)).toEqual(["id", "accountId", "accountName"]);
  });

  it("say a draft's text once, and again only where a channel shows another", async () => {
    const targets = [{ accountId: "acc_1" }, { accountId: "acc_2", caption: "Here" }];
    const saved = await call("save_draft", { caption: "Everywhere", targets });
    expect(saved.draft.checks[0].preview.text).toContain("Everywhere");
    const { drafts } = await short("list_drafts", { id: saved.draft.id });
    const texts = drafts[0].checks.map(({ preview }: any) => preview?.text);
    for (const [at, { preview }] of saved.draft.checks.entries()) {
      const own = at === 0 ? "Everywhere" : "Here";
      expect(texts[at]).toBe(preview === null || preview?.text === own ? undefined : (preview.text ?? ""));
    }
    expect(JSON.stringify(drafts).match(/Everywhere/g)).toHaveLength(1);
  });

  it("are those of a batch, too, and what a post holds stays whole", async () => {
    const scheduledAt = "2026-12-05T09:00:00Z";
    const post = { accountId: "acc_1", caption: "A", metadata: { tags: ["B"] }, scheduledAt, dryRun: true };
    const { results } = await short("schedule_posts", { posts: [post, { ...post, accountId: "acc_none" }] });
    expect(results[0]).toMatchObject({
      index: 0,
      warnings: [],
      post: { accountName: "Blog", metadata: post.metadata },
    });
    expect(results[0]).not.toHaveProperty("error");
    expect(results[1]).toEqual({ index: 1, warnings: [], error: expect.stringContaining("acc_none") });
  });

  it("of a long batch say what became of each post, which the caller knows else", async () => {
    const post = { accountId: "acc_1", caption: "A", scheduledAt: "2026-12-05T09:00:00Z", dryRun: true };
    const { results } = await short("schedule_posts", { posts: Array.from({ length: 6 }, () => post) });
    expect(results[0]).toEqual({
      index: 0,
      post: { id: "", scheduledAt: "2026-12-05T09:00:00.000Z", status: "scheduled" },
      warnings: expect.any(Array),
      dryRun: true,
    });
  });

  it("of several channels say how long a text may be and what media are taken, and one alone says all", async () => {
    const { accounts } = await short("list_accounts", {});
    const [{ capabilities, ...blog }] = accounts;
    expect(blog).toEqual({
      id: "acc_1",
      provider: "feed",
      name: "Blog",
      handle: "@alice",
      status: "connected",
      queuedCount: 1,
    });
    expect(Object.keys(capabilities)).toEqual(["media", "caption"]);
    expect(capabilities.media.accepts[0]).toEqual({ kind: "image" });
    const [alone] = (await short("list_accounts", { accountId: "acc_1" })).accounts;
    expect(alone.capabilities).toHaveProperty("quotas");
    expect((await call("list_accounts", {})).accounts[0].capabilities).toHaveProperty("quotas");
  });

  it("of a calendar have the names beside them", async () => {
    const { posts, names } = await short("show_calendar", { from: "2026-12-01", to: "2026-12-31" });
    expect(names).toEqual({ acc_1: "Blog", acc_2: "Shop" });
    expect(posts[0]).not.toHaveProperty("accountName");
  });

  it("do not say twice what stands whole beside them", async () => {
    const { account, accounts } = await short("connect_channel", { provider: "feed", name: "New" });
    expect(account).toHaveProperty("capabilities");
    expect(accounts).toEqual([{ id: account.id, provider: "feed", name: "New", status: "connected" }]);
  });

  it("leave alone what others wrote as JSON", async () => {
    const row = { accountId: "acc_1", provider: "feed", metadata: { shelf: null } };
    expect(await compactRows({ ctx, caller: callerOf() }, { posts: [row] })).toEqual({
      posts: [{ ...row, accountName: "Blog" }],
    });
  });

  it("are not those of one post", async () => {
    const { post } = await short("get_post", { id: "post_1" });
    expect(post).toMatchObject({ error: null, leadMinutes: null });
  });
});
