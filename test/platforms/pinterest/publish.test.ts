import { describe, expect, it } from "vitest";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { openWorld } from "./world.ts";

const DATA = PHOTO.bytes.toString("base64");

describe("a pin", () => {
  it("carries its texts and its picture", async () => {
    await using world = await openWorld();
    const metadata = { title: "Horn", link: "https://a.example/x", altText: "A horn" };
    const row = await world.end(await world.post(await world.connect(), metadata));
    const [pin] = world.fake.state.pins;
    expect(pin).toMatchObject({
      board_id: "111",
      title: "Horn",
      description: "A horn",
      link: "https://a.example/x",
      alt_text: "A horn",
      source: { source_type: "image_base64", content_type: "image/jpeg", data: DATA },
    });
    expect(row).toMatchObject({
      status: "published",
      platform_post_id: pin?.id,
      platform_url: `https://www.pinterest.com/pin/${pin?.id}/`,
    });
  });

  it("shows several pictures", async () => {
    await using world = await openWorld();
    const moreMedia = [{ url: PHOTO_URL }, { url: PHOTO_URL }];
    await world.end(await world.post(await world.connect(), { moreMedia }));
    expect(world.fake.state.pins).toMatchObject([
      {
        source: {
          source_type: "multiple_image_base64",
          items: [{ data: DATA }, { data: DATA }, { data: DATA }],
        },
      },
    ]);
  });

  it.each([
    [{ thumbnailUrl: PHOTO_URL }, { cover_image_content_type: "image/jpeg", cover_image_data: DATA }],
    [{ coverSeconds: 7 }, { cover_image_key_frame_time: 7 }],
    [{}, { cover_image_key_frame_time: 1 }],
  ])("shows a film with its cover: %j", async (metadata, cover) => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), metadata, { media_url: CLIP_URL });
    expect(await world.end(post)).toMatchObject({ status: "published", error: null });
    expect(world.fake.state.pins).toMatchObject([{ source: { source_type: "video_id", ...cover } }]);
    expect(world.fake.state.media.size).toBe(1);
  });

  it("tells what is wrong with a film that cannot be processed, and sends it anew when asked to", async () => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), {}, { media_url: CLIP_URL });
    await world.run(post);
    for (const media of world.fake.state.media.values()) media.isBroken = true;
    expect(await world.end(post)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("Pinterest could not process the video."),
    });
    expect(world.fake.state.pins).toEqual([]);
  });

  it("is made of a film sent anew where Pinterest has forgotten the first", async () => {
    await using world = await openWorld();
    const due = world.ctx.clock.now() + 60 * 60_000;
    const account = await world.connect();
    const post = await world.post(
      account,
      {},
      { media_url: CLIP_URL, scheduled_at: due, due_at: world.ctx.clock.now(), lead_minutes: 60 },
    );
    await world.run(post);
    expect(world.fake.state.media.size).toBe(1);
    world.fake.state.media.clear();
    await world.ctx.clock.advance(60 * 60_000);
    expect(await world.end(post)).toMatchObject({ status: "published" });
  });

  it("that is alike another is not taken for it", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    await world.end(await world.post(account, { title: "One" }));
    await world.ctx.clock.advance(5 * 60_000);
    const second = await world.post(account, { title: "One" });
    world.fake.refuse("POST /pins", 503, { code: 12, message: "Later." });
    expect(await world.end(second)).toMatchObject({ status: "published" });
    expect(world.fake.state.pins).toHaveLength(2);
  });
});

describe("what Pinterest refuses", () => {
  it("waits until the limit starts anew", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    world.fake.refuse("POST /pins", 429, { code: 8, message: "Slow." }, { "x-ratelimit-reset": "40" });
    const row = await world.run(await world.post(account));
    expect(row).toMatchObject({ status: "scheduled", next_at: world.ctx.clock.now() + 40_000, in_doubt: 0 });
  });
});

describe("before it is sent", () => {
  it("refuses a pin without media, and a film among pictures", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const bare = { accountId: account.id, caption: "x", metadata: { boardId: "111" }, dryRun: true };
    await expect(schedulePost(world.call, bare)).rejects.toMatchObject({ kind: "invalid" });
    const mixed = await world.end(await world.post(account, { moreMedia: [{ url: CLIP_URL }] }));
    expect(mixed).toMatchObject({ status: "failed", error: expect.stringContaining("metadata.moreMedia") });
  });
});
