import { describe, expect, it } from "vitest";
import discord from "../../../src/platforms/discord/index.ts";
import { escapeMarkdown, measure } from "../../../src/platforms/discord/metadata.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { readStepResults } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { PDF_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain } from "../../support/publishing.ts";
import { CHANNEL_ID, GUILD_ID, refuse, render } from "./fake.ts";
import { createDiscordWorld } from "./world.ts";

type World = Awaited<ReturnType<typeof createDiscordWorld>>;

/** Publishes, and the answer to the message is lost after Discord acted on it; goes on after `waitMs`. */
async function loseAnswer(world: World, waitMs: number, isActedOn = true, metadata = {}) {
  const account = await world.connectBot();
  let isLost = false;
  const request: typeof world.fake.request = async (one) => {
    const isSending = one.method === "POST" && !isLost;
    if (!isSending) return world.fake.request(one);
    isLost = true;
    if (isActedOn) await world.fake.request(one);
    throw new OutboundFailure("The answer broke off.", true);
  };
  const { id } = await addPost(world.ctx, account, { metadata: JSON.stringify(metadata) });
  await drain({ ...world.ctx, outbound: { ...world.fake, request } });
  await world.ctx.clock.advance(waitMs);
  return finish(world.ctx, id);
}

const MINUTES = 60_000;

describe("a text", () => {
  it.each([
    ["*a* _b_ ~~c~~ `d` ||e||", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\` \\|\\|e\\|\\|"],
    ["# a\n- b\n1. c\n> d\n-# e", "\\# a\n\\- b\n1\\. c\n\\> d\n\\-# e"],
    ["a - b # c 1. d", "a - b # c 1. d"],
    ["<@1> <t:1> @everyone", "\\<@1> \\<t:1> @everyone"],
    ["see https://a.example/x_y_z?q=*_* (ok)", "see https://a.example/x_y_z?q=*_* (ok)"],
    ["[a](https://b.example/c_d)", "\\[a\\](https://b.example/c_d)"],
  ])("is escaped: %s", (text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
    expect(render(escaped)).toBe(text);
  });

  it("is counted as it is sent", async () => {
    expect(measure("*".repeat(1_000))).toBe(2_000);
    await using world = await createDiscordWorld();
    const { id: accountId } = await world.connectBot();
    const dryRun = (caption: string) => schedulePost(callOf(world.ctx), { accountId, caption, dryRun: true });
    await dryRun("*".repeat(1_000));
    await expect(dryRun("*".repeat(1_001))).rejects.toMatchObject({
      message: expect.stringMatching(/^caption: /),
    });
  });
});

describe("a lost answer", () => {
  it.each([
    ["acted on, asked at once", 0, true],
    ["acted on, asked when its nonce is forgotten", 10 * MINUTES, true],
    ["never there, asked when its nonce would be forgotten", 10 * MINUTES, false],
  ])("is settled: %s", async (_what, waitMs, isActedOn) => {
    await using world = await createDiscordWorld();
    await world.publish(await world.connectBot(), { caption: "An older one" });
    expect(await loseAnswer(world, waitMs, isActedOn)).toMatchObject({ status: "published", error: null });
    expect(world.state.messages.length).toBe(2);
  });

  it("stays open for a bot that may not read the history", async () => {
    await using world = await createDiscordWorld();
    world.state.mayReadHistory = false;
    const row = await loseAnswer(world, 10 * MINUTES);
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^outcome unknown: .*history/),
    });
    expect(world.state.messages.length).toBe(1);
  });

  it.each([true, false])("of a forum's post is settled by its threads (acted on: %s)", async (isActedOn) => {
    await using world = await createDiscordWorld();
    world.state.channel.type = 15;
    const row = await loseAnswer(world, 0, isActedOn, { title: "A horn" });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.state.threads.length).toBe(1);
  });

  it("of a webhook is left to a person", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectWebhook();
    world.state.meets = () => ({ status: 502 });
    const { id } = await world.publish(account, {});
    expect(await finish(world.ctx, id)).toMatchObject({ error: expect.stringMatching(/^outcome unknown: /) });
  });
});

describe("kinds of channels", () => {
  it("shows a forum's post with title and tags, and takes it away with its thread", async () => {
    await using world = await createDiscordWorld();
    world.state.channel.type = 15;
    const account = await world.connectBot();
    const metadata = { title: "A horn", tagIds: ["1"] };
    const row = await world.publish(account, { mediaUrl: PHOTO_URL, metadata });
    const [thread] = world.state.threads;
    expect(thread).toMatchObject({ name: "A horn", tags: ["1"] });
    expect(row).toMatchObject({
      platform_post_id: thread?.id,
      platform_url: `https://discord.com/channels/${GUILD_ID}/${thread?.id}/${thread?.id}`,
    });
    const io = { ...(await world.ioOf(account)), ...(await readStepResults(world.ctx, row)) };
    for (let time = 0; time < 2; time += 1) await discord.remove?.(world.postOf(row), io);
    expect(world.state.threads).toEqual([]);
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "removed" });
    expect((await world.readAccount(account)).status).toBe("connected");
  });

  it("shows a webhook's post in a forum, and changes and deletes it there", async () => {
    await using world = await createDiscordWorld();
    world.state.channel.type = 15;
    const account = await world.connectWebhook();
    const failed = await world.publish(account, {});
    expect(failed).toMatchObject({ status: "failed", error: expect.stringMatching(/^metadata.title: /) });
    const row = await world.publish(account, { metadata: { title: "A horn" } });
    expect(row.status).toBe("published");
    await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "*New*" });
    expect(world.state.messages.map(({ content }) => content)).toEqual(["\\*New\\*"]);
    // Without what the run left, the address says which thread.
    await discord.remove?.(world.postOf(row), await world.ioOf(account));
    expect(world.state.messages).toEqual([]);
  });

  it("publishes an announcement to followers, and only warns where that is refused", async () => {
    await using world = await createDiscordWorld();
    world.state.channel.type = 5;
    const account = await world.connectBot();
    expect(await world.publish(account, { metadata: { crosspost: true } })).toMatchObject({ warnings: null });
    expect(world.state.messages[0]?.isCrossposted).toBe(true);
    world.state.meets = (_method, path) =>
      path.endsWith("/crosspost") ? refuse(403, 50013, "Missing Permissions") : null;
    const row = await world.publish(account, { metadata: { crosspost: true } });
    expect(row).toMatchObject({
      status: "published",
      warnings: expect.stringContaining("Publishing to followers"),
    });
    expect((await world.readAccount(account)).status).toBe("connected");
  });

  it("refuses a post without a title where the channel is a forum", async () => {
    await using world = await createDiscordWorld();
    world.state.channel.type = 15;
    const { id: accountId } = await world.connectBot();
    await expect(
      schedulePost(callOf(world.ctx), { accountId, caption: "A horn", dryRun: true }),
    ).rejects.toThrow(/^metadata.title: /);
  });
});

describe("what Discord answers", () => {
  it("takes an alternative text that is cut where it is too long", async () => {
    await using world = await createDiscordWorld();
    const metadata = { moreMedia: [{ url: PHOTO_URL, altText: "é".repeat(1_500) }] };
    const row = await world.publish(await world.connectBot(), { mediaUrl: PHOTO_URL, metadata });
    expect(row.status).toBe("published");
    expect(world.state.messages[0]?.body["attachments"][1].description).toHaveLength(1_024);
  });

  it("waits as long as the body says", async () => {
    await using world = await createDiscordWorld();
    const account = await world.connectWebhook();
    world.state.meets = () =>
      refuse(429, 0, "You are being rate limited.", { retry_after: 64.57, global: false });
    const { id } = await world.publish(account, {});
    expect((await world.readAccount(account)).next_allowed_at).toBe(world.ctx.clock.now() + 64_570);
    world.state.meets = () => null;
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.state.messages.length).toBe(1);
  });

  it("gives a document its name", async () => {
    await using world = await createDiscordWorld();
    await world.publish(await world.connectBot(), { mediaUrl: PDF_URL });
    expect(world.state.messages[0]?.files).toEqual(["A score.pdf"]);
  });

  it("tells reactions, changes a bot's message, and not one that is gone", async () => {
    await using world = await createDiscordWorld();
    const row = await world.publish(await world.connectBot(), { mediaUrl: PHOTO_URL });
    expect(row.platform_url).toBe(
      `https://discord.com/channels/${GUILD_ID}/${CHANNEL_ID}/${row.platform_post_id}`,
    );
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "live", metrics: { likes: 3 } });
    await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "New" });
    expect(world.state.messages[0]).toMatchObject({ content: "New", files: ["1.jpg"] });
    world.state.messages.length = 0;
    await expect(
      editPublishedPost(callOf(world.ctx), { id: row.id, caption: "Newer" }),
    ).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("not in the channel any more"),
    });
  });
});
