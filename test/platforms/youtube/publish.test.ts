import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../../src/domain/time.ts";
import { retryPost } from "../../../src/posts/update-post.ts";
import { callOf } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { QUOTA_EXCEEDED, refusal } from "./answers.ts";
import { createYoutubeWorld, type YoutubeWorld } from "./world.ts";

const METADATA = { title: "The horn", madeForKids: false };

/** A post that is brought there an hour ahead. */
async function addAhead({ ctx, account, clock }: YoutubeWorld, metadata: object = {}) {
  const scheduledAt = clock.now() + HOUR;
  const post = { media_url: CLIP_URL, metadata: JSON.stringify({ ...METADATA, ...metadata }) };
  return addPost(ctx, account, { ...post, scheduled_at: scheduledAt, due_at: clock.now(), lead_minutes: 60 });
}

async function addNow({ ctx, account }: YoutubeWorld, metadata: object = {}) {
  return addPost(ctx, account, {
    media_url: CLIP_URL,
    metadata: JSON.stringify({ ...METADATA, ...metadata }),
  });
}

/** Works on what is due until the moment. */
async function workUntil({ ctx, clock }: YoutubeWorld, id: string, moment: number): Promise<void> {
  for (;;) {
    await drain(ctx);
    const { next_at: next } = await readPost(ctx, id);
    if (next === null || next > moment) break;
    await clock.advance(Math.max(next - clock.now(), 1_000));
  }
  await clock.advance(Math.max(0, moment - clock.now()));
}

describe("a film on YouTube", () => {
  it("is sent as it was written, private, with the time at which YouTube makes it public", async () => {
    const world = await createYoutubeWorld();
    const { ctx, fake } = world;
    const post = await addAhead(world, {
      tags: ["horn", "post horn"],
      categoryId: "27",
      language: "de",
      license: "creativeCommon",
      embeddable: false,
      containsSyntheticMedia: true,
      notifySubscribers: false,
      madeForKids: true,
    });
    await drain(ctx);
    const video = [...fake.videos.all.values()][0]!;
    expect(video).toMatchObject({ notifies: false, wasPublic: false, shownAt: null });
    expect(video.snippet).toEqual({
      title: "The horn",
      description: "Hello",
      categoryId: "27",
      tags: ["horn", "post horn"],
      defaultLanguage: "de",
    });
    expect(video.status).toEqual({
      privacyStatus: "private",
      publishAt: new Date(post.scheduled_at).toISOString(),
      selfDeclaredMadeForKids: true,
      license: "creativeCommon",
      embeddable: false,
      containsSyntheticMedia: true,
    });
    const url = `https://www.youtube.com/watch?v=${video.id}`;
    const there = { platform_post_id: video.id, platform_url: url };
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "uploaded", error: null, ...there });
    expect(await finish(ctx, post.id)).toMatchObject({ status: "published", ...there });
    expect(video.shownAt).toBe(post.scheduled_at);
    // YouTube did it by itself.
    expect(fake.requests).not.toContain("PUT /youtube/v3/videos");
    expect(fake.wrong).toEqual([]);
  });

  it("is made public by us where YouTube does not at its time, and never before", async () => {
    const world = await createYoutubeWorld();
    const { ctx, fake } = world;
    fake.videos.flips = false;
    const post = await addAhead(world);
    const end = await finish(ctx, post.id);
    expect(end.status).toBe("published");
    const [video] = [...fake.videos.all.values()];
    expect(video!.shownAt! - post.scheduled_at).toBeGreaterThanOrEqual(0);
    expect(video!.shownAt! - post.scheduled_at).toBeLessThan(MINUTE);
    // What else was declared stays.
    expect(video!.status).toMatchObject({ privacyStatus: "public", selfDeclaredMadeForKids: false });
    expect(fake.requests.filter((name) => name === "PUT /youtube/v3/videos")).toHaveLength(1);
  });

  it("goes out now when it is due: uploaded in private, processed, then public", async () => {
    const world = await createYoutubeWorld();
    const { ctx, fake, clock } = world;
    const startedAt = clock.now();
    const { id } = await addNow(world, { thumbnailUrl: PHOTO_URL, playlistId: "PLhorns" });
    expect(await finish(ctx, id)).toMatchObject({ status: "published", warnings: null });
    const [video] = fake.videos.shown();
    expect(video!.shownAt! - startedAt).toBeGreaterThanOrEqual(fake.videos.processingMs);
    expect(fake.videos.playlists.get("PLhorns")).toEqual([video!.id]);
    expect(fake.videos.thumbnails.get(video!.id)).toHaveLength(1);
  });

  it("has its thumbnail before everybody sees it, and once", async () => {
    const world = await createYoutubeWorld();
    const post = await addAhead(world, { thumbnailUrl: PHOTO_URL });
    await drain(world.ctx);
    expect([...world.fake.videos.thumbnails.values()].map((all) => all.length)).toEqual([1]);
    expect((await finish(world.ctx, post.id)).status).toBe("published");
    expect([...world.fake.videos.thumbnails.values()].map((all) => all.length)).toEqual([1]);
  });

  it("stays private or becomes unlisted as it was meant", async () => {
    const world = await createYoutubeWorld();
    const { ctx, fake } = world;
    const hidden = await addAhead(world, { visibility: "private" });
    const unlisted = await addAhead(world, { visibility: "unlisted" });
    await drain(ctx);
    expect([...fake.videos.all.values()].map(({ status }) => status)).toEqual([
      { privacyStatus: "private", selfDeclaredMadeForKids: false },
      { privacyStatus: "private", selfDeclaredMadeForKids: false },
    ]);
    expect((await finish(ctx, hidden.id)).status).toBe("published");
    expect((await finish(ctx, unlisted.id)).status).toBe("published");
    const kinds = [...fake.videos.all.values()].map(({ status }) => status["privacyStatus"]);
    expect(kinds.sort()).toEqual(["private", "unlisted"]);
  });

  it.each([[true], [false]])(
    "is never called published while YouTube keeps it private (ahead: %s)",
    async (isAhead) => {
      const world = await createYoutubeWorld();
      const { ctx, fake } = world;
      fake.videos.isAudited = false;
      const post = isAhead ? await addAhead(world) : await addNow(world);
      await workUntil(world, post.id, post.scheduled_at + 6 * HOUR);
      const [video] = [...fake.videos.all.values()];
      expect(await readPost(ctx, post.id)).toMatchObject({
        status: "uploaded",
        error: expect.stringMatching(/keeps it private.*audit/s),
        platform_post_id: video!.id,
      });
      // Looked at for long, at one unit each; changed once.
      expect(fake.requests.filter((name) => name === "PUT /youtube/v3/videos")).toHaveLength(1);
      expect(fake.requests.filter((name) => name === "GET /youtube/v3/videos").length).toBeLessThan(30);
      // A person makes it public after all.
      fake.videos.isAudited = true;
      video!.status["privacyStatus"] = "public";
      expect(await finish(ctx, post.id)).toMatchObject({ status: "published", error: null });
      expect(fake.videos.all.size).toBe(1);
    },
  );

  it.each([
    [{ uploadStatus: "failed", failureReason: "codec" }, /could not process the video \(codec\): .*H\.264/],
    [
      { uploadStatus: "rejected", rejectionReason: "duplicate" },
      /rejected the video \(duplicate\): .*already/,
    ],
    [
      { uploadStatus: "rejected", rejectionReason: "somethingNew" },
      /rejected the video \(somethingNew\)\. Look/,
    ],
  ])("fails with YouTube's reason when it cannot be used: %o", async (failure, sentence) => {
    for (const add of [addAhead, addNow]) {
      const world = await createYoutubeWorld();
      world.fake.videos.failure = failure;
      const { id, scheduled_at: at } = await add(world);
      expect(await finish(world.ctx, id)).toMatchObject({
        status: "failed",
        error: expect.stringMatching(sentence),
        in_doubt: 0,
        platform_post_id: "vid00000001",
      });
      expect(world.fake.videos.shown()).toEqual([]);
      // What is known ahead of time is told ahead of time.
      if (add === addAhead) expect(world.clock.now()).toBeLessThan(at);
      const retried = await retryPost(callOf(world.ctx), { id });
      expect(retried.post.status).toBe("scheduled");
    }
  });

  it("fails when somebody deleted it before its time", async () => {
    const world = await createYoutubeWorld();
    const post = await addAhead(world);
    await drain(world.ctx);
    world.fake.videos.all.clear();
    expect(await finish(world.ctx, post.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("deleted there"),
    });
  });

  it.each([
    ["its quota is used up", QUOTA_EXCEEDED],
    ["the API is switched off", refusal(403, "accessNotConfigured", "Not enabled.", "usageLimits")],
    ["it is out of order", refusal(503, "backendError")],
  ])("is neither failed nor sent again when it is its time and %s", async (_why, answer) => {
    const world = await createYoutubeWorld();
    const post = await addAhead(world);
    await drain(world.ctx);
    const list = { get: () => answer };
    world.fake.state.next.set("GET /youtube/v3/videos", { shift: list.get } as never);
    await workUntil(world, post.id, post.scheduled_at + 5 * MINUTE);
    expect((await readPost(world.ctx, post.id)).status).toBe("uploaded");
    world.fake.state.next.clear();
    expect(await finish(world.ctx, post.id)).toMatchObject({ status: "published", error: null });
    expect(world.fake.videos.all.size).toBe(1);
  });

  it("tells what of its extras was refused, and is published all the same", async () => {
    const world = await createYoutubeWorld();
    world.fake.videos.isVerified = false;
    const { id } = await addNow(world, { thumbnailUrl: PHOTO_URL, playlistId: "PLgone" });
    const end = await finish(world.ctx, id);
    expect(end).toMatchObject({ status: "published", error: null });
    expect(JSON.parse(end.warnings ?? "[]")).toEqual([
      expect.stringMatching(/^The thumbnail did not go through: .*verify/),
      expect.stringMatching(/^The playlist did not go through: metadata\.playlistId: .*no such playlist/),
    ]);
    await expect(retryPost(callOf(world.ctx), { id })).rejects.toMatchObject({ kind: "conflict" });
    expect(world.fake.videos.all.size).toBe(1);
  });
});
