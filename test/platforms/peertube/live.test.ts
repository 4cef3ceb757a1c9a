import { describe, expect, it } from "vitest";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { problem } from "./spec.ts";
import { createPeertubeWorld } from "./world.ts";

async function runPost(metadata: object = {}) {
  const world = await createPeertubeWorld();
  const { ctx, account, fake } = world;
  const given = JSON.stringify({ title: "The horn", tags: ["horn"], categoryId: "15", ...metadata });
  const { id } = await addPost(ctx, account, { caption: "A horn", media_url: CLIP_URL, metadata: given });
  const row = await finish(ctx, id);
  expect(row.status).toBe("published");
  const video = fake.videos.all.get(row.platform_post_id ?? "")!;
  const edit = (input: object) => editPublishedPost(callOf(ctx), { id, ...input });
  return { ...world, id, row, video, edit };
}

describe("a film that is on PeerTube", () => {
  it("is changed as far as the edit says; the rest of it stays, what was changed there too", async () => {
    const { edit, video, fake } = await runPost({ support: "Buy a horn" });
    video.fields["licence"] = 7;
    await edit({ caption: "New words", metadata: { title: "2024", tags: ["a b", "c1"], support: null } });
    expect(video.fields).toMatchObject({
      name: "2024",
      description: "New words",
      tags: ["a b", "c1"],
      category: 15,
      licence: 7,
      privacy: 1,
    });
    expect(video.fields).not.toHaveProperty("support");
    await edit({ metadata: { visibility: "internal", categoryId: null, sensitive: true, tags: null } });
    expect(video.fields).toMatchObject({ privacy: 4, nsfw: true });
    expect(video.fields).not.toHaveProperty("tags");
    expect(video.fields).not.toHaveProperty("category");
    expect(fake.wrong).toEqual([]);
  });

  it("says which edit the server does not take, and leaves the post as it was", async () => {
    const { ctx, edit, id, fake } = await runPost();
    fake.state.next.set("PUT /videos/{id}", [problem(400, "x", "no", { "invalid-params": { name: {} } })]);
    const conflict = { kind: "conflict", message: expect.stringContaining("metadata.title: ") };
    await expect(edit({ metadata: { title: "Odd" } })).rejects.toMatchObject(conflict);
    expect(JSON.parse((await readPost(ctx, id)).metadata ?? "{}").title).toBe("The horn");
    await expect(edit({ metadata: { waitTranscoding: false } })).rejects.toMatchObject({ kind: "conflict" });
    await expect(edit({ caption: "ab" })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("gets another thumbnail", async () => {
    const { ctx, id, video } = await runPost();
    await setThumbnail(callOf(ctx), { id, thumbnailUrl: PHOTO_URL });
    expect(video.thumbnails).toHaveLength(1);
  });

  it("tells how it stands and its numbers", async () => {
    const { ctx, row, fake, video } = await runPost();
    expect(await readInsights(ctx, row)).toMatchObject({
      available: true,
      state: "live",
      visibility: "public",
      metrics: { views: 12, likes: 3, comments: 1, shares: null },
    });
    fake.videos.blocked = true;
    expect(await readInsights(ctx, row)).toMatchObject({ state: "rejected" });
    fake.videos.blocked = false;
    video.fields["privacy"] = 3;
    expect(await readInsights(ctx, row)).toMatchObject({ state: "private", visibility: "private" });
    fake.videos.all.clear();
    expect(await readInsights(ctx, row)).toMatchObject({ state: "removed" });
  });

  it("has choices and a channel with numbers by day", async () => {
    const { ctx, account, fake } = await createPeertubeWorld();
    const named = { accountId: account.id, field: "categoryId" };
    expect((await listChoices(callOf(ctx), { ...named, search: "sci" })).choices).toEqual([
      { value: "15", label: "Science & Technology" },
    ]);
    fake.state.views = [
      { date: "2026-01-01T00:00:00.000Z", views: 2 },
      { date: "2026-01-02T00:00:00.000Z", views: 3 },
      { date: "2026-01-04T00:00:00.000Z", views: 9 },
    ];
    const range = { from: "2026-01-01", to: "2026-01-03" };
    const numbers = await getAccountAnalytics(callOf(ctx), {
      accountId: account.id,
      granularity: "day",
      ...range,
    });
    expect(numbers).toMatchObject({ totals: { views: 5, followers: 5 } });
  });
});
