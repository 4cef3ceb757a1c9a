import { describe, expect, it } from "vitest";
import dailymotion from "../../../src/platforms/dailymotion/index.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { createDailymotionWorld } from "./world.ts";

const MINUTE = 60_000;

async function world(metadata: object = {}, more: Parameters<typeof addPost>[2] = {}) {
  const made = await createDailymotionWorld();
  const whole = { title: "The horn", madeForKids: false, ...metadata };
  const { id } = await addPost(made.ctx, made.account, {
    caption: "It <b>sounds</b>, 1 < 2 &amp; so on",
    media_url: CLIP_URL,
    metadata: JSON.stringify(whole),
    ...more,
  });
  const video = () => [...made.fake.videos.values()][0];
  return { ...made, id, video };
}

describe("a film", () => {
  it("lies there in private until its time, and has what it was given from then on", async () => {
    const scheduledAt = Date.parse("2026-11-21T10:00:00Z");
    const { ctx, clock, id, video, fake } = await world(
      { tags: ["horn"], category: "music", language: "de-CH", sensitive: true, containsSyntheticMedia: true },
      { scheduled_at: scheduledAt, due_at: Date.parse("2026-11-21T09:00:00Z") },
    );
    await drain(ctx);
    await clock.advance(30 * MINUTE);
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "uploaded", error: null });
    expect(video()?.fields).toMatchObject({
      visibility: "private",
      tags: ["horn", expect.stringMatching(/^[0-9a-f]{32}$/)],
    });
    await clock.advance(30 * MINUTE);
    expect(await finish(ctx, id)).toMatchObject({
      status: "published",
      platform_post_id: "x1video",
      platform_url: "https://www.dailymotion.com/video/x1video",
    });
    expect(video()?.fields).toEqual({
      title: "The horn",
      description: "It &lt;b>sounds&lt;/b>, 1 < 2 &amp;amp; so on",
      category: "music",
      visibility: "public",
      is_for_kids: false,
      is_explicit: true,
      is_ai_altered: true,
      language: "de",
      tags: ["horn"],
    });
    expect(fake.requests.filter((name) => name === "POST /upload")).toHaveLength(1);
  });

  it("stays private where that is wanted, at an address that nobody guesses", async () => {
    const { ctx, id, video } = await world({ visibility: "private" });
    expect(await finish(ctx, id)).toMatchObject({
      status: "published",
      platform_url: "https://www.dailymotion.com/video/kx1videosecret",
    });
    expect(video()?.fields).toMatchObject({ visibility: "private", tags: [], category: "people" });
    expect(await readInsights(ctx, await readPost(ctx, id))).toMatchObject({ state: "private" });
  });

  it("fails in words where Dailymotion cannot use it", async () => {
    const made = await world();
    made.fake.state.failsEncoding = true;
    expect(await finish(made.ctx, made.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: Dailymotion could not use the video/),
    });
    expect(made.fake.shown()).toEqual([]);
  });

  it("is made public all the same when it is worked on for long", async () => {
    const made = await world();
    made.fake.state.encodingMs = 60 * MINUTE;
    expect(await finish(made.ctx, made.id)).toMatchObject({ status: "published", error: null });
    expect(made.video()?.fields).toMatchObject({ visibility: "public" });
    expect(made.fake.shown()).toEqual([]);
  });

  it("is sent whole again in another session when an upload breaks off", async () => {
    const made = await world();
    made.fake.state.next.set("POST /upload", [{ status: 404, body: { error: "No such session." } }]);
    expect(await finish(made.ctx, made.id)).toMatchObject({ status: "published", error: null });
    expect(made.fake.requests.filter((name) => name.endsWith("upload_sessions"))).toHaveLength(2);
    expect(made.fake.videos.size).toBe(1);
  });

  it("is told to be deleted where somebody did that before its time", async () => {
    const made = await world();
    await drain(made.ctx);
    made.fake.videos.clear();
    expect(await finish(made.ctx, made.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("deleted there"),
    });
  });

  it("is refused before anything is sent where it is none", async () => {
    const made = await world({}, { media_url: PHOTO_URL });
    expect(await finish(made.ctx, made.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: is of type image/),
    });
    expect(made.fake.requests).toEqual([]);
  });
});

describe("what Dailymotion refuses", () => {
  it("is warned of where nobody says whether it is for children", () => {
    const post = { caption: "", metadata: { title: "A" } } as never;
    expect(dailymotion.check?.(post, {} as never).warnings).toEqual([
      expect.stringMatching(/^metadata\.madeForKids: /),
    ]);
  });
});

describe("a live film", () => {
  it("is changed in what was changed", async () => {
    const { ctx, id, video, fake } = await world();
    await finish(ctx, id);
    fake.requests.length = 0;
    const call = callOf(ctx);
    await editPublishedPost(call, { id, caption: "Two", metadata: { tags: ["brass"], title: "Horns" } });
    expect(video()?.fields).toMatchObject({ title: "Horns", description: "Two", tags: ["brass"] });
    expect(fake.requests).toEqual(["PATCH /v2/videos/{id}"]);
    const { post } = await editPublishedPost(call, { id, metadata: { visibility: "private" } });
    expect(post.platformUrl).toBe("https://www.dailymotion.com/video/kx1videosecret");
    await expect(editPublishedPost(call, { id, caption: "" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("caption: cannot be removed"),
    });
    await expect(setThumbnail(call, { id, thumbnailUrl: PHOTO_URL })).rejects.toMatchObject({
      kind: "conflict",
    });
    expect(fake.wrong).toEqual([]);
  });
});
