import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { refusal } from "./answers.ts";
import { createYoutubeWorld } from "./world.ts";

async function runPost(metadata: object = {}) {
  const world = await createYoutubeWorld();
  const { ctx, account, fake } = world;
  const given = { title: "The horn", madeForKids: false, tags: ["horn"], ...metadata };
  const { id } = await addPost(ctx, account, { media_url: CLIP_URL, metadata: JSON.stringify(given) });
  const row = await finish(ctx, id);
  expect(row.status).toBe("published");
  const video = fake.videos.all.get(row.platform_post_id ?? "")!;
  return {
    ...world,
    id,
    row,
    video,
    edit: (input: object) => editPublishedPost(callOf(ctx), { id, ...input }),
  };
}

describe("a film that is on YouTube", () => {
  it("is changed as far as the edit says; the rest of it stays, what was changed in Studio too", async () => {
    const { edit, video, fake } = await runPost({ language: "en", license: "creativeCommon" });
    video.snippet["categoryId"] = "1";
    video.status["embeddable"] = false;
    const { post } = await edit({ caption: "New words", metadata: { title: "A new horn", tags: null } });
    expect(post.metadata).toMatchObject({ title: "A new horn" });
    expect(video.snippet).toEqual({
      title: "A new horn",
      description: "New words",
      categoryId: "1",
      defaultLanguage: "en",
    });
    expect(video.status).toMatchObject({
      privacyStatus: "public",
      embeddable: false,
      license: "creativeCommon",
    });
    await edit({ metadata: { visibility: "unlisted", madeForKids: true } });
    expect(video.status).toEqual({
      privacyStatus: "unlisted",
      selfDeclaredMadeForKids: true,
      embeddable: false,
      license: "creativeCommon",
      publicStatsViewable: true,
    });
    expect(fake.wrong).toEqual([]);
  });

  it("says which edit YouTube does not take, and leaves the post as it was", async () => {
    const { ctx, edit, id, fake } = await runPost();
    fake.state.next.set("PUT /youtube/v3/videos", [refusal(400, "invalidTitle")]);
    await expect(edit({ metadata: { title: "Odd" } })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("metadata.title: YouTube refused the title."),
    });
    expect(JSON.parse((await readPost(ctx, id)).metadata ?? "{}").title).toBe("The horn");
    await expect(edit({ metadata: { playlistId: "PLother" } })).rejects.toMatchObject({ kind: "conflict" });
    await expect(edit({ caption: "a < b" })).rejects.toMatchObject({ kind: "invalid" });
    await expect(edit({ metadata: { license: "mine" } })).rejects.toMatchObject({ kind: "invalid" });
    fake.videos.isAudited = false;
    await edit({ caption: "Still works" });
    await expect(edit({ metadata: { visibility: "unlisted" } })).rejects.toThrow(
      /YouTube keeps the video private/,
    );
    fake.videos.all.clear();
    await expect(edit({ caption: "Gone" })).rejects.toThrow(/no longer on YouTube/);
  });

  it("gets another thumbnail", async () => {
    const { ctx, id, video, fake } = await runPost({ thumbnailUrl: PHOTO_URL });
    await setThumbnail(callOf(ctx), { id, thumbnailUrl: PHOTO_URL });
    expect(fake.videos.thumbnails.get(video.id)).toHaveLength(2);
    fake.videos.isVerified = false;
    await expect(setThumbnail(callOf(ctx), { id, thumbnailUrl: PHOTO_URL })).rejects.toThrow(
      /youtube\.com\/verify/,
    );
    fake.state.next.set("POST /upload/youtube/v3/thumbnails/set", [refusal(429, "uploadRateLimitExceeded")]);
    await expect(setThumbnail(callOf(ctx), { id, thumbnailUrl: PHOTO_URL })).rejects.toThrow(
      /too many thumbnails/,
    );
  });

  it("tells how it stands and its numbers", async () => {
    const { ctx, id, fake, video } = await runPost();
    const told = async () => readInsights(ctx, await readPost(ctx, id));
    expect(await told()).toMatchObject({
      state: "live",
      visibility: "public",
      metrics: { views: 12, likes: 3, comments: 1, shares: null },
    });
    fake.videos.statistics = { viewCount: "13" };
    video.status["privacyStatus"] = "private";
    expect(await told()).toMatchObject({
      state: "private",
      visibility: "private",
      metrics: { views: 13, likes: null },
    });
    fake.videos.failure = { uploadStatus: "rejected", rejectionReason: "copyright" };
    expect(await told()).toMatchObject({ state: "rejected" });
    fake.videos.all.clear();
    expect(await told()).toMatchObject({ available: true, state: "removed", visibility: null });
  });
});

describe("a channel", () => {
  it("has numbers by day and in total", async () => {
    const { ctx, account, fake } = await createYoutubeWorld();
    fake.state.report = (query) => {
      expect(query.get("ids")).toBe("channel==MINE");
      const metrics = (query.get("metrics") ?? "").split(",");
      const names = [...(query.has("dimensions") ? ["day"] : []), ...metrics];
      const row = metrics.map((_, at) => at + 1);
      return {
        columnHeaders: names.map((name) => ({ name, columnType: "METRIC", dataType: "INTEGER" })),
        rows: query.has("dimensions") ? [["2026-11-18", ...row]] : [row],
      };
    };
    const asked = {
      accountId: account.id,
      from: "2026-11-18",
      to: "2026-11-19",
      granularity: "day",
    } as const;
    const answer = await getAccountAnalytics(callOf(ctx), asked);
    expect(answer.totals).toMatchObject({ followers: 1230, views: 1, likes: 2, comments: 3, shares: 4 });
    expect(answer.series).toMatchObject([
      { date: "2026-11-18", views: 1, averageViewPercentage: 9 },
      { date: "2026-11-19" },
    ]);
    expect(answer.unavailable.map(({ metric }) => metric)).toEqual([
      "impressions",
      "reach",
      "saves",
      "clicks",
    ]);
    fake.state.report = () => ({ columnHeaders: [] });
    const none = await getAccountAnalytics(callOf(ctx), asked);
    expect(none.unavailable).toContainEqual({
      metric: "views",
      reason: expect.stringContaining("two days later"),
    });
    fake.state.next.set("GET /v2/reports", [
      refusal(403, "insufficientPermissions"),
      refusal(403, "insufficientPermissions"),
    ]);
    const refused = await getAccountAnalytics(callOf(ctx), asked);
    expect(refused.unavailable).toContainEqual({
      metric: "views",
      reason: expect.stringContaining("not ticked"),
    });
    expect(fake.wrong).toEqual([]);
  });

  it("has categories and playlists to choose from", async () => {
    const { ctx, account, fake } = await createYoutubeWorld();
    const ask = async (field: string, search?: string) =>
      (
        await listChoices(callOf(ctx), {
          accountId: account.id,
          field,
          ...(search === undefined ? {} : { search }),
        })
      ).choices;
    expect(await ask("categoryId")).toEqual([
      { value: "1", label: "Film & Animation" },
      { value: "22", label: "People & Blogs" },
      { value: "27", label: "Education" },
    ]);
    expect(await ask("categoryId", "edu")).toEqual([{ value: "27", label: "Education" }]);
    expect(await ask("playlistId", "other")).toEqual([{ value: "PLother", label: "List PLother" }]);
    expect(fake.wrong).toEqual([]);
  });

  it("waits where it may not upload, and asks to be reconnected where nobody may", async () => {
    const { ctx, account, fake } = await createYoutubeWorld();
    const metadata = JSON.stringify({ title: "The horn", madeForKids: false });
    const { id } = await addPost(ctx, account, { media_url: CLIP_URL, metadata });
    const suspended = refusal(403, "authenticatedUserAccountSuspended");
    fake.state.next.set("POST /upload/youtube/v3/videos", [suspended, suspended]);
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("suspended"),
    });
    await ctx.clock.advance(MINUTE);
    await drain(ctx);
    expect(fake.videos.all.size).toBe(0);
  });
});
