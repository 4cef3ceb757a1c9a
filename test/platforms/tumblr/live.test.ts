import { describe, expect, it } from "vitest";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { openWorld } from "./world.ts";

describe("a live post on Tumblr", () => {
  it("is changed, and keeps its media and its address", async () => {
    await using world = await openWorld();
    const moreMedia = [{ url: PHOTO_URL }];
    const metadata = { title: "Horn", tags: ["a"], altText: "Old", moreMedia };
    const row = await world.end(await world.post(await world.connect(), metadata, { media_url: PHOTO_URL }));
    const before = structuredClone(world.fake.blogs.posts[0]?.fields);
    await editPublishedPost(world.call, {
      id: row.id,
      caption: "Two\n\nhorns",
      metadata: { title: null, tags: ["b", "c"], altText: "New", allowReblogs: false },
    });
    const [, first, second] = before.content;
    expect(world.fake.blogs.posts).toMatchObject([
      {
        state: "published",
        fields: {
          content: [{ ...first, alt_text: "New" }, second, { text: "Two" }, { text: "horns" }],
          tags: "b,c",
          slug: before.slug,
          interactability_reblog: "noone",
        },
      },
    ]);
    expect(world.fake.blogs.files).toHaveLength(2);
  });

  it("stays as it was where a field cannot be changed, or it is gone", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), {}, { media_url: PHOTO_URL }));
    for (const change of [
      editPublishedPost(world.call, { id: row.id, metadata: { moreMedia: [{ url: CLIP_URL }] } }),
      setThumbnail(world.call, { id: row.id, thumbnailUrl: PHOTO_URL }),
    ])
      await expect(change).rejects.toMatchObject({ kind: "conflict" });
    for (const post of world.fake.blogs.posts) post.isDeleted = true;
    await expect(editPublishedPost(world.call, { id: row.id, caption: "Two" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("It is not on Tumblr any more."),
    });
    expect((await world.run(row)).caption).toBe("A horn");
  });

  it("has its numbers, and a blog its followers", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const row = await world.end(await world.post(account));
    expect(await readInsights(world.ctx, row)).toMatchObject({
      state: "live",
      visibility: "public",
      metrics: { likes: 5, shares: 3, views: null, comments: null },
    });
    const range = { from: "2026-11-20", to: "2026-11-21", granularity: "day" } as const;
    const { totals } = await getAccountAnalytics(world.call, { accountId: account.id, ...range });
    expect(totals).toMatchObject({ followers: 42 });
  });
});
