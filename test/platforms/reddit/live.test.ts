import { describe, expect, it } from "vitest";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { NEWS_FLAIR, rendered } from "./communities.ts";
import { openWorld } from "./world.ts";

describe("a live post on Reddit", () => {
  it("of text is changed, and any gets another flair", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const row = await world.end(await world.post(account));
    const link = await world.end(await world.post(account, { link: "https://a.example" }));
    await editPublishedPost(world.call, { id: row.id, caption: "*Two* horns" });
    await editPublishedPost(world.call, { id: link.id, metadata: { flairId: NEWS_FLAIR } });
    const [text, other] = world.fake.communities.posts;
    expect([rendered(text?.selftext ?? ""), text?.flair, other?.flair]).toEqual([
      "*Two* horns",
      null,
      NEWS_FLAIR,
    ]);
    await editPublishedPost(world.call, { id: link.id, metadata: { flairId: null } });
    expect(other?.flair).toBeNull();
  });

  it("stays as it was where Reddit lets nobody change it", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const row = await world.end(await world.post(account));
    const picture = await world.end(await world.post(account, {}, { media_url: PHOTO_URL }));
    for (const change of [
      editPublishedPost(world.call, { id: row.id, metadata: { title: "Other" } }),
      editPublishedPost(world.call, { id: picture.id, caption: "Two" }),
      setThumbnail(world.call, { id: picture.id, thumbnailUrl: PHOTO_URL }),
    ])
      await expect(change).rejects.toMatchObject({ kind: "conflict" });
    expect((await world.run(picture)).caption).toBe("A horn");
  });

  it("has its numbers, and says when moderators took it away", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect()));
    expect(await readInsights(world.ctx, row)).toMatchObject({
      state: "live",
      metrics: { likes: 12, comments: 4, views: null },
    });
    const [post] = world.fake.communities.posts;
    for (const [removedBy, state] of [
      ["automod_filtered", "rejected"],
      ["deleted", "removed"],
    ] as const) {
      if (post !== undefined) post.removedBy = removedBy;
      expect(await readInsights(world.ctx, row)).toMatchObject({ state });
    }
  });
});

it("tells an account's followers and karma", async () => {
  await using world = await openWorld();
  const { id: accountId } = await world.connect();
  const range = { from: "2026-11-20", to: "2026-11-21", granularity: "day" } as const;
  const { totals } = await getAccountAnalytics(world.call, { accountId, ...range });
  expect(totals).toMatchObject({ followers: 42, karma: 321 });
});
