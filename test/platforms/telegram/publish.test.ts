import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { CLIP_URL, PDF_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { CHANNEL_ID, refuse } from "./fake.ts";
import { createTelegramWorld } from "./world.ts";

const photos = (count: number) => Array.from({ length: count }, () => ({ url: PHOTO_URL }));

describe("what is sent", () => {
  it("is refused where a document stands beside pictures", async () => {
    await using world = await createTelegramWorld();
    const metadata = { moreMedia: photos(1) };
    const row = await world.publish(await world.connect(), { mediaUrl: PDF_URL, metadata });
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringContaining("documents only into an album of documents"),
    });
  });

  it("is a text as it is written, with its address on t.me", async () => {
    await using world = await createTelegramWorld();
    const row = await world.publish(await world.connect(), { caption: "*5* < 6 &amp; _7_" });
    expect(row).toMatchObject({
      platform_post_id: `${CHANNEL_ID}:100`,
      platform_url: "https://t.me/hornnews/100",
    });
    expect(world.state.messages[0]?.params).toEqual({ chat_id: CHANNEL_ID, text: "*5* < 6 &amp; _7_" });
  });

  it("has an address for members in a private channel, and none in a small group", async () => {
    await using world = await createTelegramWorld();
    delete world.state.chats.get(CHANNEL_ID)!.username;
    world.state.chats.set(-4001, { id: -4001, type: "group", title: "G", member: { status: "member" } });
    const inside = await world.publish(await world.connect({ chat: String(CHANNEL_ID) }), {});
    expect(inside.platform_url).toBe("https://t.me/c/1234567890/100");
    const group = await world.publish(await world.connect({ chat: "-4001" }), {});
    expect(group).toMatchObject({ platform_post_id: "-4001:101", platform_url: null });
  });

  it.each<[string, { caption?: string | null; mediaUrl?: string; metadata?: JsonObject }, object]>([
    [
      "a preview of an address",
      { metadata: { link: "https://horn.example/" } },
      { text: "A horn", link_preview_options: { url: "https://horn.example/" } },
    ],
    [
      "a link alone",
      { caption: null, metadata: { link: "https://horn.example/" } },
      { text: "https://horn.example/" },
    ],
    ["no preview", { metadata: { linkPreview: false } }, { link_preview_options: { is_disabled: true } }],
    [
      "options",
      { metadata: { silent: true, protectContent: true, topicId: 5 } },
      { disable_notification: true, protect_content: true, message_thread_id: 5 },
    ],
    [
      "a blurred picture below its text",
      { mediaUrl: PHOTO_URL, metadata: { sensitive: true, captionAbove: true } },
      { photo: "attach://photo", caption: "A horn", has_spoiler: true, show_caption_above_media: true },
    ],
    ["a film", { mediaUrl: CLIP_URL }, { video: "attach://video", supports_streaming: true }],
    ["a document", { mediaUrl: PDF_URL }, { document: "attach://document", caption: "A horn" }],
    [
      "a film as a file",
      { mediaUrl: CLIP_URL, metadata: { asDocument: true } },
      { document: "attach://document" },
    ],
  ])("is %s", async (_what, post, params) => {
    await using world = await createTelegramWorld();
    expect(await world.publish(await world.connect(), post)).toMatchObject({
      status: "published",
      error: null,
    });
    expect(world.state.messages[0]?.params).toMatchObject(params);
  });

  it("is one album of ten, and what follows in messages of their own", async () => {
    await using world = await createTelegramWorld();
    const row = await world.publish(await world.connect(), {
      mediaUrl: PHOTO_URL,
      metadata: { moreMedia: photos(20) },
    });
    expect(row).toMatchObject({ status: "published", warnings: null, platform_post_id: `${CHANNEL_ID}:100` });
    const albums = world.state.messages.map(({ album, text }) => [album, text]);
    expect(albums.length).toBe(21);
    expect(new Set(albums.slice(0, 10).map(([album]) => album)).size).toBe(1);
    expect(albums.filter(([, text]) => text !== "")).toEqual([["album 100", "A horn"]]);
    expect(albums[20]).toEqual([null, ""]);
  });

  it("stays published when what follows the album is refused, and says so", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    let sent = 0;
    world.state.meets = () => (++sent === 2 ? refuse(400, "Bad Request: PHOTO_INVALID_DIMENSIONS") : null);
    const row = await world.publish(account, {
      mediaUrl: PHOTO_URL,
      metadata: { moreMedia: photos(11) },
    });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(row.warnings).toContain(
      "The message with the media after the first 10 did not go through: Telegram",
    );
    expect(world.state.messages.length).toBe(10);
  });

  it("has no id where Telegram sends it later by itself", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    world.state.tellsNoIds = true;
    const row = await world.publish(account, { mediaUrl: CLIP_URL });
    expect(row).toMatchObject({ status: "published", platform_post_id: null, platform_url: null });
  });
});

describe("what is refused", () => {
  it("is a cover on what turns out to be a picture", async () => {
    await using world = await createTelegramWorld();
    const row = await world.publish(await world.connect(), {
      mediaUrl: PHOTO_URL,
      metadata: { thumbnailUrl: PHOTO_URL },
    });
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(/^metadata.thumbnailUrl: /) });
    expect(world.methods()).not.toContain("sendPhoto");
  });
});

describe("what Telegram answers", () => {
  it("moves with a group that became a supergroup, and posts once", async () => {
    await using world = await createTelegramWorld();
    const group = { id: -4001, type: "group" as const, title: "G", member: { status: "member" } };
    world.state.chats.set(-4001, group);
    const account = await world.connect({ chat: "-4001" });
    Object.assign(group, { movedTo: -1009 });
    world.state.chats.set(-1009, { id: -1009, type: "supergroup", title: "G", member: { status: "member" } });
    const row = await world.publish(account, { mediaUrl: PHOTO_URL });
    expect(row).toMatchObject({ status: "published", platform_post_id: "-1009:100" });
    const now = await world.readAccount(account);
    expect(JSON.parse(now.settings)).toMatchObject({ chatId: "-1009" });
    const sends = () => world.methods().filter((method) => method === "sendPhoto").length;
    expect(sends()).toBe(2);
    await world.publish(now, { mediaUrl: PHOTO_URL });
    expect(sends()).toBe(3);
  });

  it("waits as long as it is told to, as nothing was sent", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    world.state.meets = () => refuse(429, "Too Many Requests: retry after 35", { retry_after: 35 });
    const { id } = await world.publish(account, {});
    expect((await world.readAccount(account)).next_allowed_at).toBe(world.ctx.clock.now() + 35_000);
    world.state.meets = () => null;
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.state.messages.length).toBe(1);
  });

  it.each([
    ["kicked", "The bot was removed from the chat"],
    ["no rights", "The bot may not post in the chat"],
    ["gone", "Telegram does not find the chat"],
    ["revoked", "Telegram does not accept the bot token"],
  ])("asks to reconnect when the bot is %s", async (what, words) => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const { chats } = world.state;
    if (what === "kicked") chats.get(CHANNEL_ID)!.member = { status: "kicked" };
    if (what === "no rights") chats.get(CHANNEL_ID)!.member.can_post_messages = false;
    if (what === "gone") chats.delete(CHANNEL_ID);
    if (what === "revoked") world.state.token = "1:another";
    const row = await world.publish(account, {});
    expect(row.status).toBe("scheduled");
    expect(row.error).toContain(words);
    expect(await world.readAccount(account)).toMatchObject({ status: "reconnect_required" });
  });

  it("fails a post in a topic that is not there, naming the field", async () => {
    await using world = await createTelegramWorld();
    const row = await world.publish(await world.connect(), { metadata: { topicId: 404 } });
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(/^metadata.topicId: /) });
  });
});
