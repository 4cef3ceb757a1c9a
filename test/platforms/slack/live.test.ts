import { describe, expect, it } from "vitest";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import slack from "../../../src/platforms/slack/index.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { openWorld } from "./world.ts";

describe("a live message", () => {
  it.each(["Another < text", "*Another* text"])("is changed to %s, as it is written", async (caption) => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), "One"));
    const { post } = await editPublishedPost(world.call, { id: row.id, caption });
    expect(post.caption).toBe(caption);
    expect(world.fake.state.messages.map(({ text }) => text)).toEqual([caption]);
  });

  it("stays as it was where Slack refuses, or the field cannot be changed", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), "One"));
    world.fake.refuse("chat.update", "edit_window_closed");
    await expect(editPublishedPost(world.call, { id: row.id, caption: "Two" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("let messages be changed only for a while"),
    });
    await expect(
      editPublishedPost(world.call, { id: row.id, metadata: { thread: [{ caption: "New" }] } }),
    ).rejects.toMatchObject({ kind: "conflict" });
    expect((await world.run(row)).caption).toBe("One");
  });

  it("has its reactions and replies counted, where the bot may read them", async () => {
    await using world = await openWorld();
    const metadata = { thread: [{ caption: "Two" }] };
    const row = await world.end(await world.post(await world.connect(), "One", "", metadata));
    const [message] = world.fake.state.messages;
    message?.reactions.push({ name: "tada", count: 3 }, { name: "horn", count: 2 });
    expect(await readInsights(world.ctx, row)).toMatchObject({
      state: "live",
      metrics: { likes: 5, comments: 1, views: null },
    });
    const channel = world.fake.state.channels.get("C0NEWS");
    if (channel !== undefined) channel.is_member = false;
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "live", metrics: { likes: null } });
    if (message !== undefined) message.isDeleted = true;
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "removed" });
  });

  it("is removed with its replies and its files", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const thread = [{ caption: "Two" }, { caption: "Three", mediaUrl: PHOTO_URL }];
    const row = await world.end(await world.post(account, "One", PHOTO_URL, { thread }));
    await world.ctx.clock.advance(5_000);
    const io = {
      ...(await createPlatformIo(world.ctx, account, AbortSignal.timeout(20_000))),
      ...(await readStepResults(world.ctx, row)),
    };
    for (let time = 0; time < 2; time += 1) await slack.remove?.(toPlatformPost(slack, row), io);
    expect(world.fake.state.messages.map(({ isDeleted }) => isDeleted)).toEqual([true, true, true]);
    expect([...world.fake.state.files.values()].map(({ isDeleted }) => isDeleted)).toEqual([true, true]);
  });
});

describe("a channel that is looked after", () => {
  it("takes its new name, and tells that it is archived", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const channel = world.fake.state.channels.get("C0NEWS");
    if (channel === undefined) throw new Error("There is no such channel.");
    Object.assign(channel, { name: "tidings", is_archived: true });
    await inspectAccount(world.ctx, account);
    expect(await world.readAccount(account.id)).toMatchObject({
      name: "#tidings (Acme)",
      handle: "#tidings",
      status: "connected",
      status_reason: expect.stringContaining("This channel is archived"),
    });
  });
});
