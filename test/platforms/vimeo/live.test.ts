import { expect, it } from "vitest";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { createVimeoWorld } from "./world.ts";

async function runPost() {
  const world = await createVimeoWorld();
  const { ctx, account, fake } = world;
  const metadata = JSON.stringify({ title: "The horn", comments: "disabled" });
  const { id } = await addPost(ctx, account, { caption: "A horn", media_url: CLIP_URL, metadata });
  const row = await finish(ctx, id);
  expect(row.status).toBe("published");
  const video = fake.videos.all.get(row.platform_post_id ?? "")!;
  const edit = (input: object) => editPublishedPost(callOf(ctx), { id, ...input });
  return { ...world, id, row, video, edit };
}

it("is changed as far as the edit says; the rest of it stays, what was changed there too", async () => {
  const { ctx, id, edit, video, fake } = await runPost();
  video.privacy["embed"] = "whitelist";
  await edit({ caption: "New words", metadata: { title: "A new horn", license: "by" } });
  expect(video.fields).toEqual({ name: "A new horn", description: "New words", license: "by" });
  expect(video.privacy).toEqual({ view: "anybody", comments: "nobody", embed: "whitelist" });
  await edit({ metadata: { visibility: "unlisted", comments: "enabled" } });
  expect(video.privacy).toMatchObject({ view: "unlisted", comments: "anybody", embed: "whitelist" });
  expect((await readPost(ctx, id)).platform_url).toMatch(/\/8f3b2c$/);
  fake.videos.refusedViews = ["nobody"];
  await expect(edit({ metadata: { visibility: "private" } })).rejects.toMatchObject({
    kind: "conflict",
    message: expect.stringMatching(/^metadata\.visibility: .*plan/),
  });
  await expect(edit({ metadata: { tags: ["new"] } })).rejects.toMatchObject({ kind: "conflict" });
  expect(fake.wrong).toEqual([]);
});

it("gets another thumbnail, which is the one that is shown", async () => {
  const { ctx, id, video } = await runPost();
  for (let n = 0; n < 2; n += 1) await setThumbnail(callOf(ctx), { id, thumbnailUrl: PHOTO_URL });
  expect(video.pictures.map(({ isActive }) => isActive)).toEqual([false, true]);
});

it("tells how it stands and its numbers", async () => {
  const { ctx, account, row, fake, video } = await runPost();
  expect(await readInsights(ctx, row)).toMatchObject({
    available: true,
    state: "live",
    visibility: "anybody",
    metrics: { views: 12, likes: 3, comments: 1, shares: null },
  });
  video.privacy["view"] = "nobody";
  expect(await readInsights(ctx, row)).toMatchObject({ state: "private" });
  fake.videos.all.clear();
  expect(await readInsights(ctx, row)).toMatchObject({ state: "removed" });
  const range = { from: "2026-01-01", to: "2026-01-03", granularity: "total" } as const;
  const numbers = await getAccountAnalytics(callOf(ctx), { accountId: account.id, ...range });
  expect(numbers).toMatchObject({ totals: { followers: 9 } });
});
