import { describe, expect, it } from "vitest";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { openWorld } from "./world.ts";

describe("a live pin", () => {
  it("is changed, and moved to another board", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), { title: "Horn" }));
    await editPublishedPost(world.call, {
      id: row.id,
      caption: "Two horns",
      metadata: { title: null, boardId: "222" },
    });
    expect(world.fake.state.pins).toMatchObject([
      { description: "Two horns", title: null, board_id: "222", link: null },
    ]);
  });

  it("stays as it was where the app is not in the beta, or the field cannot be changed", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect()));
    world.fake.refuse("PATCH /pins/{pin_id}", 403, { code: 7, message: "Not in the beta." });
    await expect(editPublishedPost(world.call, { id: row.id, caption: "Two" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("only some apps change pins"),
    });
    for (const change of [
      editPublishedPost(world.call, { id: row.id, metadata: { coverSeconds: 3 } }),
      setThumbnail(world.call, { id: row.id, thumbnailUrl: PHOTO_URL }),
    ])
      await expect(change).rejects.toMatchObject({ kind: "conflict" });
    expect((await world.run(row)).caption).toBe("A horn");
  });

  it("has its numbers: over its life, else those of 90 days", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect()));
    expect((await readInsights(world.ctx, row)).metrics).toMatchObject({
      impressions: 240,
      clicks: 20,
      saves: 7,
      likes: 12,
      comments: 3,
    });
    const lifetime_metrics = { impression: 900, clickthrough: 5, reaction: 2, comment: 1 };
    world.fake.state.numbers.set(row.platform_post_id ?? "", { lifetime_metrics });
    expect((await readInsights(world.ctx, row)).metrics).toMatchObject({ impressions: 900, saves: null });
    for (const pin of world.fake.state.pins) pin.isDeleted = true;
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "removed" });
  });
});

describe("a channel's numbers", () => {
  it("are those of the last 90 days, the days that are ready", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    const answer = await getAccountAnalytics(world.call, {
      accountId,
      from: "2026-06-01",
      to: "2026-11-21",
      granularity: "day",
    });
    expect(answer.totals).toMatchObject({ followers: 42, impressions: 300, saves: 9 });
    const asked = world.fake.calls.find(({ name }) => name === "GET /user_account/analytics");
    expect(Object.fromEntries(asked?.query ?? [])).toMatchObject({
      start_date: "2026-08-24",
      end_date: "2026-11-21",
    });
  });

  it("are left out with a reason where Pinterest refuses them", async () => {
    await using world = await openWorld();
    const { id: accountId } = await world.connect();
    world.fake.refuse("GET /user_account/analytics", 403, { code: 7, message: "No." });
    const { unavailable } = await getAccountAnalytics(world.call, {
      accountId,
      from: "2026-11-20",
      to: "2026-11-21",
      granularity: "day",
    });
    expect(unavailable).toContainEqual({
      metric: "impressions",
      reason: expect.stringContaining("business account"),
    });
  });
});
