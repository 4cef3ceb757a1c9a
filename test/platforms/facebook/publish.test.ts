import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../../src/domain/time.ts";
import { cancelPost, readInsights } from "../../../src/posts/posts.ts";
import { CLIP, CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { callOf } from "../../support/context.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { PAGE_ID } from "./spec.ts";
import { toResponse } from "./fake-http.ts";
import { LONG_CLIP_URL, openPage, type PageWorld } from "./world.ts";

let world: PageWorld;

beforeEach(async () => {
  world = await openPage();
});

afterEach(() => world[Symbol.asyncDispose]());

const add = (post: object) => addPost(world.ctx, world.account, post);

/** A post that is brought there before its time. */
function addAhead(minutes: number, post: object = {}) {
  const now = world.ctx.clock.now();
  return add({ scheduled_at: now + minutes * MINUTE + 250, due_at: now, lead_minutes: minutes, ...post });
}

describe("what a post becomes", () => {
  it("posts a text by the Page's and the post's id", async () => {
    const { fake, ctx } = world;
    const row = await finish(ctx, (await add({ caption: "Line 1\nLine 2" })).id);
    const [id] = fake.posts.posts.keys();
    expect(id).toMatch(new RegExp(`^${PAGE_ID}_\\d+$`));
    expect(row).toMatchObject({ platform_post_id: id, platform_url: `https://www.facebook.com/${id}` });
    expect(fake.visible()).toEqual(["Line 1\nLine 2"]);
  });

  it("attaches pictures that nobody sees before, with their alternative texts", async () => {
    const { fake, ctx } = world;
    await finish(ctx, (await add({ media_url: PHOTO_URL, metadata: JSON.stringify(PICTURES) })).id);
    const [post] = fake.posts.posts.values();
    expect(post?.photos).toEqual([...fake.posts.photos.keys()]);
    expect([...fake.posts.photos.values()].map(({ altText }) => altText)).toEqual([
      "A horn",
      "The same horn",
    ]);
  });

  it("makes a reel of a film, and a video where that is wanted", async () => {
    const { fake, ctx } = world;
    const thumbnail = { thumbnailUrl: PHOTO_URL, title: "T" };
    const reel = await finish(
      ctx,
      (await add({ media_url: CLIP_URL, caption: "R", metadata: JSON.stringify(thumbnail) })).id,
    );
    const video = await finish(
      ctx,
      (await add({ media_url: LONG_CLIP_URL, caption: "V", metadata: JSON.stringify({ kind: "video" }) })).id,
    );
    const [first, second] = fake.films.films.values();
    expect([reel.platform_post_id, reel.platform_url]).toEqual([
      first?.id,
      `https://www.facebook.com/reel/${first?.id}`,
    ]);
    expect([video.platform_post_id, video.platform_url]).toEqual([
      second?.id,
      `https://www.facebook.com/${PAGE_ID}/videos/${second?.id}`,
    ]);
    expect([first?.kind, second?.kind]).toEqual(["reel", "video"]);
    for (const film of [first, second]) expect(film?.bytes.equals(CLIP.bytes)).toBe(true);
    expect([first?.title, first?.thumbnail !== null]).toEqual(["T", true]);
    expect(fake.visible()).toEqual(["R", "V"]);
  });

  it.each([0, 60])("says where Facebook keeps a film as a draft, %i minutes ahead", async (ahead) => {
    const { fake, ctx } = world;
    fake.films.keepsDrafts = true;
    const film = { media_url: LONG_CLIP_URL, metadata: JSON.stringify({ kind: "video" }) };
    const { id } = ahead === 0 ? await add(film) : await addAhead(ahead, film);
    // Its own schedule ends in a draft too.
    const seen = async () => {
      for (let minute = 0; minute < ahead + 12; minute += 1) {
        await drain(ctx);
        for (const one of fake.films.films.values()) one.publicAt = null;
        await ctx.clock.advance(MINUTE);
      }
      return readPost(ctx, id);
    };
    expect(await seen()).toMatchObject({
      status: "uploaded",
      platform_post_id: [...fake.films.films.keys()][0],
      error: expect.stringMatching(/keeps the video as a draft.*Publish it in Meta Business Suite/),
    });
    expect(fake.visible()).toEqual([]);
    fake.films.publishByHand();
    expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
    expect(fake.films.films.size).toBe(1);
  });

  it("goes on with a broken upload where it broke off", async () => {
    const { fake, ctx } = world;
    for (const [media_url, kind] of [
      [CLIP_URL, "reel"],
      [LONG_CLIP_URL, "video"],
    ]) {
      fake.cutAfter = 100;
      const { id } = await add({ media_url, metadata: JSON.stringify({ kind }) });
      expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    }
    const offsets = fake.asked.flatMap(({ headers }) => headers["offset"] ?? headers["file_offset"] ?? []);
    expect(offsets).toEqual(["0", "100", "0", "100"]);
    expect(fake.films.films.size).toBe(2);
  });

  it("begins an upload anew whose session is gone", async () => {
    const { fake, ctx } = world;
    fake.cutAfter = 100;
    const { id } = await add({ media_url: LONG_CLIP_URL, metadata: JSON.stringify({ kind: "video" }) });
    await drain(ctx);
    fake.films.files.clear();
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.visible()).toHaveLength(1);
  });
});

describe("Facebook's own schedule", () => {
  it.each([
    ["a text", {}],
    ["pictures", { media_url: PHOTO_URL, metadata: JSON.stringify(PICTURES) }],
    ["a reel", { media_url: CLIP_URL }],
    ["a video", { media_url: LONG_CLIP_URL, metadata: JSON.stringify({ kind: "video" }) }],
  ])(
    "has %s from 11 minutes ahead on, never a second too early, and then publishes it",
    async (_what, post) => {
      const { fake, ctx } = world;
      const { id, scheduled_at: at } = await addAhead(60, post);
      await drain(ctx);
      await ctx.clock.advance(10_000);
      await drain(ctx);
      expect(await readPost(ctx, id)).toMatchObject({ status: "uploaded", error: null });
      const times = fake.asked.flatMap(({ given }) => given["scheduled_publish_time"] ?? []);
      expect(times.map(Number)).toEqual([Math.ceil(at / 1_000)]);
      expect(fake.visible()).toEqual([]);
      expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
      expect(fake.visible()).toHaveLength(1);
    },
  );

  it("is left alone below that: parts go ahead, and the post at its time", async () => {
    const { fake, ctx } = world;
    const { id, scheduled_at: at } = await addAhead(9, { media_url: PHOTO_URL });
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "scheduled", next_at: at });
    expect(fake.posts.photos.size).toBe(1);
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.asked.filter(({ given }) => given["scheduled_publish_time"] !== undefined)).toEqual([]);
  });

  it("is found again after a lost answer, among the scheduled posts", async () => {
    const { fake, ctx } = world;
    const { id } = await addAhead(60);
    let isLost = false;
    fake.answers = (asked) => {
      if (isLost || !asked.url.pathname.endsWith("/feed")) return null;
      isLost = true;
      void fake.request({ method: "POST", url: asked.url.href, headers: asked.headers, body: asked.body });
      return toResponse(500, {});
    };
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.posts.posts.size).toBe(1);
  });

  it("is helped where it does not publish, and told of what somebody deleted", async () => {
    const { fake, ctx } = world;
    fake.posts.isStuck = true;
    const stuck = await addAhead(30);
    expect(await finish(ctx, stuck.id)).toMatchObject({ status: "published" });
    fake.posts.isStuck = false;
    const gone = await addAhead(30, { caption: "Another" });
    await drain(ctx);
    fake.posts.posts.delete((await readPost(ctx, gone.id)).platform_post_id ?? "");
    expect(await finish(ctx, gone.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/was deleted there/),
    });
  });

  it("gives a post back that is cancelled", async () => {
    const { fake, ctx } = world;
    const { id } = await addAhead(60);
    await drain(ctx);
    await cancelPost(callOf(ctx), { id, fromPlatform: true });
    expect(fake.posts.posts.size).toBe(0);
  });
});

describe("a story", () => {
  const story = JSON.stringify({ story: true });

  it.each([
    ["picture", PHOTO_URL, "POST photo_stories"],
    ["film", CLIP_URL, "POST video_stories"],
  ])("shows a %s for a day, with the address that Facebook lists", async (_kind, media_url, call) => {
    const { fake, ctx } = world;
    const { id } = await add({ media_url, caption: "", metadata: story });
    const row = await finish(ctx, id);
    expect(fake.log.filter((line) => line.replace(`${PAGE_ID}/`, "") === call).length).toBeGreaterThan(0);
    expect(row).toMatchObject({
      status: "published",
      platform_url: `https://www.facebook.com/stories/${row.platform_post_id}`,
    });
    expect(await readInsights(ctx, row)).toMatchObject({
      available: true,
      state: "live",
      metrics: { reach: 9 },
    });
    await ctx.clock.advance(DAY);
    expect(await readInsights(ctx, row)).toMatchObject({ available: true, state: "removed" });
  });

  it("waits with us for its time", async () => {
    const { fake, ctx } = world;
    const { id } = await addAhead(30, { media_url: PHOTO_URL, caption: "", metadata: story });
    await drain(ctx);
    expect(fake.log.filter((line) => line.startsWith("POST"))).toEqual([]);
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.posts.stories.size).toBe(1);
  });

  it("whose answer was lost is not sent again where the Page's list proves nothing", async () => {
    const { fake, ctx } = world;
    fake.hasArchive = false;
    fake.answers = ({ url }) => {
      if (!url.pathname.endsWith("/photo_stories")) return null;
      fake.posts.stories.set("lost", ctx.clock.now());
      return toResponse(500, {});
    };
    const row = await finish(ctx, (await add({ media_url: PHOTO_URL, caption: "", metadata: story })).id);
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^outcome unknown: .*archive/),
    });
    expect(fake.log.filter((line) => line.endsWith("/photo_stories"))).toHaveLength(1);
  });
});
