import { describe, expect, it } from "vitest";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { openSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { callOf } from "../../support/context.ts";
import { BOT_TOKEN, CHANNEL_ID } from "./fake.ts";
import { createTelegramWorld } from "./world.ts";

const GROUP = {
  id: -4001,
  type: "group",
  title: "Horn players",
  member: { status: "member" },
} as const;

describe("connecting a bot", () => {
  it.each(["@hornnews", "hornnews", "https://t.me/hornnews", "t.me/s/hornnews/12", String(CHANNEL_ID)])(
    "finds the channel by %s",
    async (chat) => {
      await using world = await createTelegramWorld();
      const row = await world.connect({ chat });
      expect(row).toMatchObject({
        name: "Horn news",
        handle: "hornnews",
        platform_account_id: String(CHANNEL_ID),
        profile_url: "https://t.me/hornnews",
        status: "connected",
        status_reason: null,
      });
      expect(row.settings).not.toContain(BOT_TOKEN);
      expect(openSecrets(world.ctx, row)).toMatchObject({ botToken: BOT_TOKEN });
    },
  );

  it("finds a private channel by the address of one of its messages", async () => {
    await using world = await createTelegramWorld();
    const chat = world.state.chats.get(CHANNEL_ID)!;
    delete chat.username;
    const row = await world.connect({ chat: "https://t.me/c/1234567890/7" });
    expect(row).toMatchObject({ platform_account_id: String(CHANNEL_ID), handle: null, profile_url: null });
  });

  it("takes several chats of one bot as channels of their own, and each once", async () => {
    await using world = await createTelegramWorld();
    world.state.chats.set(GROUP.id, { ...GROUP });
    const channel = await world.connect();
    const group = await world.connect({ chat: "-4001" });
    expect(group.id).not.toBe(channel.id);
    expect((await world.connect()).id).toBe(channel.id);
  });

  it.each([
    [{ botToken: "not a token" }, /^botToken: is not a bot's token/],
    [{ botToken: "1:wrong" }, /^botToken: Telegram does not accept the bot token/],
    [{ chat: "two words" }, /^chat: is not a channel or group\. Give the @name/],
    [{ chat: "@nobody_there" }, /^chat: Telegram does not find the chat for this bot/],
  ])("says what is wrong with %j", async (secrets, words) => {
    await using world = await createTelegramWorld();
    await expect(world.connect(secrets)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(words),
    });
  });

  it.each([
    [{ status: "kicked" }, /^chat: The bot was removed from the chat/],
    [{ status: "left" }, /^chat: The bot is not in the chat/],
    [{ status: "member" }, /^chat: The bot may not post in the channel/],
    [{ status: "administrator", can_post_messages: false }, /^chat: The bot may not post in the channel/],
  ])("says what keeps the bot from posting: %j", async (member, words) => {
    await using world = await createTelegramWorld();
    world.state.chats.get(CHANNEL_ID)!.member = member;
    await expect(world.connect()).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(words),
    });
  });

  it("never tells the token, whatever goes wrong", async () => {
    await using world = await createTelegramWorld();
    const outbound = {
      ...world.fake,
      request: async (): Promise<never> => {
        throw new OutboundFailure("It broke off.", true);
      },
    };
    const call = callOf({ ...world.ctx, outbound });
    const failed = connectWithSecrets(call, {
      provider: "telegram",
      secrets: { botToken: BOT_TOKEN, chat: "@hornnews" },
    });
    await expect(failed).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.not.stringContaining(BOT_TOKEN),
    });
  });

  it("is reconnected with a new token alone, also after the group has got another id", async () => {
    await using world = await createTelegramWorld();
    world.state.chats.set(GROUP.id, { ...GROUP });
    const row = await world.connect({ chat: "-4001" });
    world.state.chats.get(GROUP.id)!.movedTo = -1009;
    world.state.chats.set(-1009, { ...GROUP, id: -1009, type: "supergroup" });
    expect((await world.publish(row, {})).status).toBe("published");
    world.state.token = "123456789:AAF-another_token-0123456789";
    const again = await world.connect({ botToken: world.state.token, chat: "" }, row.id);
    expect(again).toMatchObject({ id: row.id, platform_account_id: "-4001" });
    expect(JSON.parse(again.settings)).toMatchObject({ chatId: "-1009" });
    expect((await world.publish(again, {})).status).toBe("published");
  });
});

describe("looking at the channel", () => {
  it("learns its new name, and what stands in the way of posting", async () => {
    await using world = await createTelegramWorld();
    const row = await world.connect();
    const chat = world.state.chats.get(CHANNEL_ID)!;
    Object.assign(chat, { username: "horns", member: { status: "administrator", can_post_messages: false } });
    await inspectAccount(world.ctx, row);
    expect(await world.readAccount(row)).toMatchObject({
      handle: "horns",
      status: "connected",
      status_reason: expect.stringMatching(/^The bot may not post in the channel/),
    });
    chat.member = { status: "kicked" };
    await inspectAccount(world.ctx, row);
    expect(await world.readAccount(row)).toMatchObject({ status: "reconnect_required" });
  });
});
