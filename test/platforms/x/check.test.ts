import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { saveDraft } from "../../../src/posts/drafts/save-draft.ts";
import x from "../../../src/platforms/x/index.ts";
import { APP } from "./fake-tokens.ts";
import { createWorld, type World } from "./world.ts";
import { measure } from "../../../src/platforms/shared/twitter-text.ts";

// Each as twitter-text 3.1 weighs it.
describe("the weight of a text on X", () => {
  it.each([
    ["plain letters", "Grüße, שלום", 11],
    ["CJK", "日本語 한국", 11],
    ["a letter in two signs, brought together", "e\u0301", 1],
    ["typographic signs", "“…”–", 5],
    ["an emoji of several signs", "👩‍👩‍👧", 2],
    ["flags, skin and keycaps", "🇩🇪👍🏽1️⃣", 6],
    ["a heart with and without its mark", "❤️❤", 4],
    ["a sign that is no emoji by itself", "©", 1],
    ["an address", "https://example.com/a/very/long/way?to=it&and=more#end", 23],
    ["an address without scheme", "see example.com.", 28],
    ["an address in brackets", "(https://example.com/x)", 25],
    ["an address that has brackets", "https://example.com/x_(y)", 23],
    ["a domain in letters of another alphabet", "https://日本語.com", 23],
    ["an address beside a text without spaces", "日本語example.com", 29],
    ["a top-level domain that is none", "https://a.example", 17],
    ["what looks like one", "node.js a..com $a.com foo@bar.com", 33],
    ["an underscore in the name", "http://a_b.com", 14],
    ["two of them", "a.com,b.com", 47],
  ])("counts %s", (_what, text, weight) => {
    expect(measure(text)).toBe(weight);
  });

  it("takes no time that grows beyond the text", () => {
    const before = process.cpuUsage();
    for (const part of ["a.", "a-", "a_", "(", "!", "👩‍", "https://", "https://a.com/("])
      measure(`https://a.com/${part.repeat(10_000)}`);
    // Processor time: another program may have the machine.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });
});

interface Post {
  readonly caption?: string;
  readonly mediaUrl?: string;
  readonly metadata?: JsonObject;
}

const dryRun = (world: World, accountId: string, post: Post) =>
  schedulePost(callOf(world.ctx), {
    accountId,
    caption: post.caption ?? "Hello",
    mediaUrl: post.mediaUrl ?? "",
    metadata: { ...post.metadata },
    scheduledAt: new Date(world.ctx.clock.now()).toISOString(),
    dryRun: true,
  });

describe("what a post on X may be", () => {
  it("is a long text where the account has Premium, and is measured as X does", async () => {
    await using world = await createWorld();
    const { id } = await world.connect();
    const address = `https://example.com/${"x".repeat(400)}`;
    await dryRun(world, id, { caption: `${"a".repeat(256)} ${address}` });
    await expect(dryRun(world, id, { caption: `${"a".repeat(257)} ${address}` })).rejects.toThrow(/281/);
    world.fake.user = { subscription_type: "Premium" };
    const accounts = queryOf(world.ctx.store).selectFrom("accounts").selectAll();
    await inspectAccount(world.ctx, await accounts.executeTakeFirstOrThrow());
    await dryRun(world, id, { caption: "日".repeat(12_500) });
    await expect(dryRun(world, id, { caption: "日".repeat(12_501) })).rejects.toThrow(/at most 25000/);
  });

  it("is warned of for two cashtags", async () => {
    await using world = await createWorld();
    const { id } = await world.connect();
    const { warnings } = await dryRun(world, id, { caption: "$ABC and $DEF cost $5.00" });
    expect(warnings).toEqual([expect.stringMatching(/^caption: has more than one cashtag/)]);
  });
});

describe("a quote, which X sells to Enterprise plans alone", () => {
  const APP_ALONE = { POSTHORN_X_CLIENT_ID: APP.clientId, POSTHORN_X_CLIENT_SECRET: APP.clientSecret };
  const metadata = { quote: "https://x.com/horn/status/1900000000000000001" };
  const refused = /^metadata\.quote: is only for apps of X's Enterprise plan\..* address into the caption/;

  it.each([{}, { POSTHORN_X_PLAN: "self-serve" }])("is refused on every way in: %j", async (plan) => {
    await using world = await createWorld(x, { ...APP_ALONE, ...plan });
    const account = await world.connect();
    const { id: accountId } = account;
    const call = callOf(world.ctx);
    const post = { accountId, caption: "Look", mediaUrl: "", metadata };
    await expect(schedulePost(call, { ...post, dryRun: true })).rejects.toThrow(refused);
    await expect(schedulePost(call, post)).rejects.toThrow(refused);
    const { draft } = await saveDraft(call, { caption: "Look", targets: [{ accountId, metadata }] });
    expect(draft.checks.find((one) => one.accountId === accountId)?.error).toMatch(refused);
    const { id } = await addPost(world.ctx, account, {
      caption: "Look",
      metadata: JSON.stringify(metadata),
    });
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(refused),
    });
    expect(world.fake.posts.all).toEqual([]);
  });

  it("is taken where the app has that plan", async () => {
    await using world = await createWorld(x, { ...APP_ALONE, POSTHORN_X_PLAN: "enterprise" });
    const { id: accountId } = await world.connect();
    const scheduledAt = new Date(world.ctx.clock.now()).toISOString();
    const post = { accountId, caption: "Look", mediaUrl: "", metadata, scheduledAt, dryRun: true };
    expect((await schedulePost(callOf(world.ctx), post)).warnings).toEqual([]);
  });
});

it.each([
  ["Thanks @bob.", 1],
  ["＠bob and (@ada)", 1],
  ["@bob@mastodon.social, a@b.com, https://mastodon.social/@bob, @bob.bsky.social", 0],
  ["@ alone", 0],
])("tells that a post that mentions a person may be refused: %s", async (caption, count) => {
  await using world = await createWorld();
  const { id: accountId } = await world.connect();
  const { warnings } = await schedulePost(callOf(world.ctx), {
    accountId,
    caption,
    mediaUrl: "",
    dryRun: true,
  });
  expect(warnings.map(String).filter((one) => one.startsWith("caption: mentions a person"))).toHaveLength(
    count,
  );
});
