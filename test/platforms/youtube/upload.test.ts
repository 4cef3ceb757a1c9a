import { describe, expect, it } from "vitest";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import { CLIP_URL } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { refusal, UPLOADS_OF_DAY } from "./answers.ts";
import { createYoutubeWorld, type YoutubeWorld } from "./world.ts";

const MiB = 1024 * 1024;
const SIZE = 20 * MiB + 12_345;
const LONG_URL = "https://media.example/long.mp4";

async function openWorld() {
  const world = await createYoutubeWorld();
  world.media.set(LONG_URL, { bytes: Buffer.alloc(SIZE, 7), mimeType: "video/mp4" });
  const metadata = JSON.stringify({ title: "The horn", madeForKids: false });
  const { id } = await addPost(world.ctx, world.account, { media_url: LONG_URL, metadata });
  return { ...world, id };
}

function broken(): never {
  throw new OutboundFailure("The connection broke off.", true);
}

/** From the n-th chunk on, once. */
function onceAt(world: YoutubeWorld, chunk: number, when: "begun" | "stored", work: () => void): void {
  world.fake.uploads.onChunk = async (at, moment) => {
    if (at !== chunk || moment !== when) return;
    world.fake.uploads.onChunk = async () => {};
    work();
  };
}

describe("an upload to YouTube", () => {
  it("goes in equal chunks, in one session", async () => {
    const { ctx, fake, id } = await openWorld();
    expect((await finish(ctx, id)).status).toBe("published");
    expect([fake.uploads.chunks, fake.uploads.bytesIn, fake.uploads.sessions.size]).toEqual([3, SIZE, 1]);
    expect(fake.wrong).toEqual([]);
  });

  it.each([
    [1, "begun"],
    [2, "begun"],
    [2, "stored"],
    [3, "begun"],
    [3, "stored"],
  ] as const)("goes on where it was when chunk %i breaks off (%s)", async (chunk, when) => {
    const world = await openWorld();
    onceAt(world, chunk, when, broken);
    expect(await finish(world.ctx, world.id)).toMatchObject({ status: "published", error: null });
    const { uploads, videos, wrong } = world.fake;
    expect([uploads.sessions.size, videos.all.size, wrong]).toEqual([1, 1, []]);
    expect(uploads.bytesIn - SIZE).toBeLessThanOrEqual(8 * MiB);
  });

  it("goes on in the same session when its token ends in the middle", async () => {
    const world = await openWorld();
    onceAt(world, 2, "begun", () => world.fake.tokens.expireAll());
    expect((await finish(world.ctx, world.id)).status).toBe("published");
    const { uploads, tokens } = world.fake;
    expect([uploads.sessions.size, tokens.refreshes]).toEqual([1, 1]);
  });

  it("begins anew when its session died before the last chunk, as nothing came of it", async () => {
    const world = await openWorld();
    onceAt(world, 2, "stored", () => {
      world.fake.uploads.forgetAll();
      broken();
    });
    expect((await finish(world.ctx, world.id)).status).toBe("published");
    expect(world.fake.videos.all.size).toBe(1);
    expect(world.fake.requests).not.toContain("GET /youtube/v3/playlistItems");
  });

  it.each([[20_000], [10 * MINUTE]])(
    "finds the video that came of a session which died with its last answer (processed in %i ms)",
    async (processingMs) => {
      const world = await openWorld();
      world.fake.videos.processingMs = processingMs;
      onceAt(world, 3, "stored", () => {
        world.fake.uploads.forgetAll();
        broken();
      });
      expect(await finish(world.ctx, world.id)).toMatchObject({
        status: "published",
        platform_post_id: "vid00000001",
      });
      expect(world.fake.videos.all.size).toBe(1);
    },
  );

  it("finds it although the list of uploads lags, and takes no other video for it", async () => {
    const world = await openWorld();
    const { videos, uploads } = world.fake;
    const body = {
      snippet: { title: "The horn", description: "Other" },
      status: { privacyStatus: "private" },
    };
    videos.create(body, 5, true);
    videos.listedAfterMs = 3 * MINUTE;
    onceAt(world, 3, "stored", () => {
      uploads.forgetAll();
      broken();
    });
    expect(await finish(world.ctx, world.id)).toMatchObject({ platform_post_id: "vid00000002" });
    expect(videos.all.size).toBe(2);
  });

  it("begins anew when no video came of a last chunk that was lost with its session", async () => {
    const world = await openWorld();
    onceAt(world, 3, "begun", () => {
      world.fake.uploads.forgetAll();
      broken();
    });
    const startedAt = world.clock.now();
    expect((await finish(world.ctx, world.id)).status).toBe("published");
    expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(world.fake.videos.all.size).toBe(1);
  });

  it("does not send a file again whose session YouTube refused at its end", async () => {
    const world = await openWorld();
    const { uploads, videos } = world.fake;
    uploads.onChunk = async (at, when) => {
      if (at !== 3 || when !== "begun") return;
      const [session] = [...uploads.sessions.values()];
      session!.last = refusal(400, "invalidVideoMetadata");
      broken();
    };
    expect(await finish(world.ctx, world.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("YouTube refused the data of the video"),
    });
    expect([uploads.sessions.size, videos.all.size]).toEqual([1, 0]);
  });

  it("settles what is in doubt although its source is gone by then", async () => {
    const world = await openWorld();
    onceAt(world, 3, "stored", () => {
      world.media.delete(LONG_URL);
      broken();
    });
    expect((await finish(world.ctx, world.id)).status).toBe("published");
  });

  it("fails without a session when its file cannot be had", async () => {
    const world = await openWorld();
    world.media.delete(LONG_URL);
    expect(await finish(world.ctx, world.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: /),
      in_doubt: 0,
    });
    expect(world.fake.requests).toEqual([]);
  });
});

describe("what limits uploads", () => {
  it.each([
    ["quotaExceeded", refusal(403, "quotaExceeded"), /midnight Pacific/, 15 * HOUR],
    ["Video Uploads per day", UPLOADS_OF_DAY, /midnight Pacific/, 15 * HOUR],
    ["uploadLimitExceeded", refusal(400, "uploadLimitExceeded"), /limit of uploads/, DAY - MINUTE],
  ])(
    "%s ends tries until there may be place again; the channel stays connected",
    async (_what, answer, words, leastMs) => {
      const world = await createYoutubeWorld();
      const { ctx, fake, clock, account } = world;
      fake.state.next.set("POST /upload/youtube/v3/videos", [answer]);
      const metadata = JSON.stringify({ title: "The horn", madeForKids: false });
      const at = clock.now();
      const { id } = await addPost(ctx, account, { media_url: CLIP_URL, metadata });
      // An hour is given, and it is ten in the morning where midnight is meant.
      expect(await finish(ctx, id)).toMatchObject({ status: "failed", error: expect.stringMatching(words) });
      expect(clock.now() - at).toBeLessThan(MINUTE);
      expect(fake.requests).toEqual(["POST /upload/youtube/v3/videos"]);
      const later = await addPost(ctx, account, {
        media_url: CLIP_URL,
        metadata,
        scheduled_at: clock.now() + 2 * DAY,
        due_at: clock.now(),
      });
      fake.state.next.set("POST /upload/youtube/v3/videos", [answer]);
      await drain(ctx);
      const waiting = await readPost(ctx, later.id);
      expect(waiting.status).toBe("scheduled");
      expect(waiting.next_at! - clock.now()).toBeGreaterThan(leastMs);
      expect((await finish(ctx, later.id)).status).toBe("published");
    },
  );
});
