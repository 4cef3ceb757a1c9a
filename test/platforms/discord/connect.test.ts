import { describe, expect, it } from "vitest";
import discord from "../../../src/platforms/discord/index.ts";
import type { MediaFigures } from "../../../src/domain/files/media-limits.ts";
import { checkPost, type DiscordPost, maxBytesOf } from "../../../src/platforms/discord/metadata.ts";
import { toPlatformAccount } from "../../../src/channels/platform-io/connect-io.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { callOf } from "../../support/context.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { BOT_ID, CHANNEL_ID, GUILD_ID, WEBHOOK_TOKEN } from "./fake.ts";
import { createDiscordWorld } from "./world.ts";

const LINK = `https://discord.com/channels/${GUILD_ID}/${CHANNEL_ID}`;

describe("connecting", () => {
  it.each([CHANNEL_ID, LINK])("finds a bot's channel by %s", async (channel) => {
    await using world = await createDiscordWorld();
    expect(await world.connectBot({ channel })).toMatchObject({
      name: "news",
      platform_account_id: CHANNEL_ID,
      profile_url: LINK,
      way: "bot",
      status: "connected",
    });
  });

  it("finds a webhook's channel, and keeps its address to itself", async () => {
    await using world = await createDiscordWorld();
    const row = await world.connectWebhook(
      `https://canary.discord.com/api/v10/webhooks/7700/${WEBHOOK_TOKEN}`,
    );
    expect(row).toMatchObject({
      name: "Horn hook",
      platform_account_id: CHANNEL_ID,
      profile_url: LINK,
      way: "webhook",
    });
    expect(row.settings).not.toContain(WEBHOOK_TOKEN);
  });

  it.each([
    [{ botToken: "wrong" }, /^botToken: Discord does not accept the bot token/],
    [{ botToken: "two words" }, /^botToken: is not a bot's token/],
    [{ channel: "#news" }, /^channel: is not a Discord channel\. Give the channel/],
    [{ channel: "70000" }, /^channel: The bot may not post in the channel/],
  ])("says what is wrong with %j", async (secrets, words) => {
    await using world = await createDiscordWorld();
    await expect(world.connectBot(secrets)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(words),
    });
  });

  it.each(["", "70000"])(
    "makes the address that invites the bot where the channel is %j",
    async (channel) => {
      await using world = await createDiscordWorld();
      // The permissions as Discord's own calculator adds them up.
      const invite = `https://discord.com/oauth2/authorize?client_id=${BOT_ID}&scope=bot&permissions=563224831446016`;
      await expect(world.connectBot({ channel })).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(`^channel: .*Open ${invite.replace("?", "\\?")} to add the bot`),
      });
    },
  );

  it("does not take a voice channel", async () => {
    await using world = await createDiscordWorld();
    world.state.channel.type = 2;
    await expect(world.connectBot()).rejects.toMatchObject({
      message: expect.stringMatching(/^channel: posts go/),
    });
  });

  it.each([
    `https://elsewhere.example/api/webhooks/7700/${WEBHOOK_TOKEN}`,
    "https://discord.com/api/webhooks/7700/wrong",
    "https://discord.com/api/webhooks/1/unknown",
  ])("does not take %s for a webhook", async (url) => {
    await using world = await createDiscordWorld();
    await expect(world.connectWebhook(url)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^webhookUrl: /),
    });
  });
});

describe("looking at the channel", () => {
  it.each([
    [0, 10],
    [1, 10],
    [2, 50],
    [3, 100],
  ])("learns how large files a server of tier %i takes of a bot", async (tier, mib) => {
    await using world = await createDiscordWorld();
    world.state.guild.premium_tier = tier;
    const bot = await world.readAccount(await world.connectBot());
    expect(JSON.parse(bot.limits)).toEqual({ maxBytes: mib * 1_024 * 1_024 });
    const account = toPlatformAccount(bot);
    const sizeBytes = mib * 1_024 * 1_024;
    const media = new Map([["a", { sizeBytes } as MediaFigures]]);
    const post = { caption: null, mediaUrl: "a", metadata: {} } as DiscordPost;
    expect(checkPost(post, { account, media }).errors).toEqual([]);
    const webhook = toPlatformAccount(await world.readAccount(await world.connectWebhook()));
    expect(maxBytesOf(webhook)).toBe(10 * 1_024 * 1_024);
  });

  it("learns that it may post no more", async () => {
    await using world = await createDiscordWorld();
    const row = await world.connectBot();
    world.state.maySend = false;
    await inspectAccount(world.ctx, await world.readAccount(row));
    expect(await world.readAccount(row)).toMatchObject({ status: "reconnect_required" });
  });

  it("tells the members of the server to a bot, and to a webhook that nobody tells", async () => {
    await using world = await createDiscordWorld();
    const range = { from: "2026-11-20", granularity: "total" } as const;
    const bot = await world.connectBot();
    const call = callOf(world.ctx);
    expect(await getAccountAnalytics(call, { accountId: bot.id, ...range })).toMatchObject({
      totals: { followers: 42 },
    });
  });

  it("lists a forum's tags by their names", async () => {
    await using world = await createDiscordWorld();
    Object.assign(world.state.channel, {
      type: 15,
      available_tags: [
        { id: "1", name: "Brass" },
        { id: "2", name: "Wood" },
      ],
    });
    const io = await world.ioOf(await world.connectBot());
    expect(await discord.choices?.["tagIds"]?.("bra", io)).toEqual([{ value: "1", label: "Brass" }]);
  });
});
