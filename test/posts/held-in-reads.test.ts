import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR } from "../../src/domain/time.ts";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
let postId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
  const posts = [1, 2].map((hours) => ({
    accountId,
    caption: `In ${hours} h`,
    scheduledAt: new Date(service.clock.now() + hours * HOUR).toISOString(),
  }));
  const { results } = await service.call("schedule_posts", { posts });
  postId = results[0]?.post?.id ?? "";
});
afterEach(() => service[Symbol.asyncDispose]());

const READS = [
  ["list_posts", {}, "2 posts that are shown wait for it."],
  ["list_posts", { status: ["scheduled"], limit: 1 }, "1 post that is shown waits for it."],
  ["show_calendar", {}, "2 posts that are shown wait for it."],
  ["get_post", {}, "1 post that is shown waits for it."],
] as const;

describe("a post that is shown before its time", () => {
  it.each(READS)("waits for a channel that is paused: %s %j", async (tool, args, waits) => {
    const given = tool === "get_post" ? { id: postId } : args;
    expect((await service.call(tool, given)).warnings ?? []).toEqual([]);
    await service.call("update_account", { accountId, paused: true });
    expect((await service.call(tool, given)).warnings).toEqual([
      `The channel Feed of default on Feed is paused, so the post waits until the channel is resumed. ${waits}`,
    ]);
  });

  it.each(READS)("waits for a channel that must be reconnected: %s %j", async (tool, args, waits) => {
    await queryOf(service.ctx.store).updateTable("accounts").set({ status: "reconnect_required" }).execute();
    const { warnings } = await service.call(tool, tool === "get_post" ? { id: postId } : args);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/ must be reconnected first\. .*connect_channel/);
    expect(warnings[0]).toContain(waits);
  });
});

describe("an empty slot", () => {
  const caption = "Without a time";

  it.each([null, ""])("counts as left out, and is told of: %j", async (slot) => {
    const { warnings } = await service.call("schedule_post", { accountId, caption, slot });
    expect(warnings[0]).toMatch(/^It goes out at once, because no time was given: slot came empty\./);
  });

  it.each([null, ""])("leaves several posts without a time, which each says: %j", async (slot) => {
    const posts = ["One", "Two"].map((one) => ({ accountId, caption: one, slot }));
    const { results } = await service.call("schedule_posts", { posts });
    for (const { warnings } of results)
      expect(warnings[0]).toMatch(/^It goes out at once, because no time was given\./);
  });
});

describe("an id that is no draft's", () => {
  it.each(["nope", "dft_01"])("is refused by list_posts as by list_drafts: %s", async (id) => {
    await expect(service.call("list_posts", { draftId: id })).rejects.toThrow(
      `draftId: there is no draft "${id}".`,
    );
    await expect(service.call("list_drafts", { id })).rejects.toThrow(`id: there is no draft "${id}".`);
    // One of a channel narrows the list to nothing.
    expect((await service.call("list_posts", { accountId: "acc_nope" })).posts).toEqual([]);
  });
});
