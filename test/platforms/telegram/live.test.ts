import { describe, expect, it } from "vitest";
import telegram from "../../../src/platforms/telegram/index.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { readStepResults } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createTelegramWorld } from "./world.ts";

const HOUR = 60 * 60_000;

describe("a live post", () => {
  it("gets another text, also the same one twice", async () => {
    await using world = await createTelegramWorld();
    const row = await world.publish(await world.connect(), { caption: "Old" });
    const { post } = await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "New *text*" });
    expect(post).toMatchObject({ caption: "New *text*", platformPostId: row.platform_post_id });
    expect(world.state.messages[0]?.text).toBe("New *text*");
    const io = await world.ioOf(await world.readAccount(await world.connect()));
    const same = { ...world.postOf(row), caption: "New *text*" };
    for (let time = 0; time < 2; time += 1) await telegram.edit?.(same, ["caption"], io);
    expect(world.state.messages[0]?.text).toBe("New *text*");
  });

  it("gets another caption below an album, and its preview taken away below a text", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const album = await world.publish(account, {
      mediaUrl: PHOTO_URL,
      metadata: { moreMedia: [{ url: CLIP_URL }] },
    });
    const call = callOf(world.ctx);
    await editPublishedPost(call, { id: album.id, caption: "New", metadata: { captionAbove: true } });
    expect(world.state.messages[0]).toMatchObject({
      text: "New",
      params: { show_caption_above_media: true },
    });
    const text = await world.publish(account, { metadata: { link: "https://horn.example/" } });
    await editPublishedPost(call, { id: text.id, metadata: { link: null, linkPreview: false } });
    expect(world.state.messages[2]?.params).toMatchObject({ link_preview_options: { is_disabled: true } });
  });

  it("is not changed where Telegram cannot: other fields, deleted messages, messages without an id", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const call = callOf(world.ctx);
    const row = await world.publish(account, {});
    await expect(editPublishedPost(call, { id: row.id, metadata: { silent: true } })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/^silent: cannot be changed/),
    });
    world.state.messages.length = 0;
    await expect(editPublishedPost(call, { id: row.id, caption: "New" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("not in the chat any more"),
    });
    world.state.tellsNoIds = true;
    const unknown = await world.publish(account, {});
    await expect(editPublishedPost(call, { id: unknown.id, caption: "New" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("Its id on Telegram is not known"),
    });
  });

  it("gets another cover, with its caption kept, where it is a video", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const call = callOf(world.ctx);
    const film = await world.publish(account, { caption: "Kept", mediaUrl: CLIP_URL });
    await setThumbnail(call, { id: film.id, thumbnailUrl: PHOTO_URL });
    expect(world.state.messages[0]).toMatchObject({ text: "Kept", cover: "attach://cover_file" });
    const photo = await world.publish(account, { mediaUrl: PHOTO_URL });
    await expect(setThumbnail(call, { id: photo.id, thumbnailUrl: PHOTO_URL })).rejects.toMatchObject({
      kind: "conflict",
    });
  });

  it("is deleted whole, and stays deleted", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const row = await world.publish(account, {
      mediaUrl: PHOTO_URL,
      metadata: { moreMedia: Array.from({ length: 10 }, () => ({ url: PHOTO_URL })) },
    });
    const io = await world.ioOf(account);
    const withResults = { ...io, ...(await readStepResults(world.ctx, row)) };
    for (let time = 0; time < 2; time += 1) await telegram.remove?.(world.postOf(row), withResults);
    expect(world.state.messages).toEqual([]);
  });

  it("cannot be deleted after two days, and says so", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const row = await world.publish(account, {});
    await world.ctx.clock.advance(49 * HOUR);
    const removed = telegram.remove?.(world.postOf(row), await world.ioOf(account));
    await expect(removed).rejects.toMatchObject({
      kind: "rejected",
      message: expect.stringContaining("48 hours"),
    });
  });
});

describe("the numbers of a channel", () => {
  it("are its members", async () => {
    await using world = await createTelegramWorld();
    const account = await world.connect();
    const answer = await getAccountAnalytics(callOf(world.ctx), {
      accountId: account.id,
      from: "2026-11-20",
      granularity: "total",
    });
    expect(answer).toMatchObject({ totals: { followers: 42 } });
  });
});
