import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { SERVER } from "./fake.ts";
import { problem } from "./spec.ts";
import { createPeertubeWorld, type PeertubeWorld } from "./world.ts";

const MiB = 1024 * 1024;
const SIZE = 20 * MiB + 12_345;
const LONG_URL = "https://media.example/long.mp4";

async function add({ ctx, account }: PeertubeWorld, { metadata = {}, ...row }: Record<string, unknown> = {}) {
  const given = JSON.stringify({ title: "The horn", ...(metadata as object) });
  return addPost(ctx, account, { media_url: CLIP_URL, metadata: given, ...row });
}

const ahead = ({ clock }: PeertubeWorld) => {
  const scheduled_at = Math.ceil(clock.now() / MINUTE) * MINUTE + HOUR + 20 * SECOND;
  return { scheduled_at, due_at: clock.now(), lead_minutes: 61 };
};

const only = ({ fake }: PeertubeWorld) => [...fake.videos.all.values()][0]!;

describe("a film on PeerTube", () => {
  it("is sent as it was written, private, with the time at which the server shows it", async () => {
    const world = await createPeertubeWorld();
    const { ctx, fake } = world;
    const metadata = {
      tags: ["horn", "post horn"],
      categoryId: "15",
      licenseId: "7",
      language: "de-AT",
      visibility: "unlisted",
      sensitive: true,
      comments: "disabled",
      downloadEnabled: false,
      support: "Buy a horn",
      thumbnailUrl: PHOTO_URL,
    };
    const post = await add(world, { caption: "*A* horn", metadata, ...ahead(world) });
    await drain(ctx);
    const video = only(world);
    const at = new Date(post.scheduled_at).toISOString();
    expect(video.fields).toEqual({
      channelId: 7,
      name: "The horn",
      description: "*A* horn",
      privacy: 3,
      scheduleUpdate: { updateAt: at, privacy: 2 },
      tags: ["horn", "post horn"],
      category: 15,
      licence: 7,
      language: "de",
      nsfw: true,
      commentsPolicy: 2,
      downloadEnabled: false,
      support: "Buy a horn",
      waitTranscoding: true,
    });
    // Its thumbnail is there before anybody sees it.
    expect([video.thumbnails.length, video.shownAt]).toEqual([1, null]);
    const there = { platform_post_id: video.uuid, platform_url: `${SERVER}/w/${video.shortUUID}` };
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "uploaded", error: null, ...there });
    expect(await finish(ctx, post.id)).toMatchObject({ status: "published", warnings: null, ...there });
    expect(video.shownAt! - post.scheduled_at).toBeGreaterThanOrEqual(0);
    expect(fake.wrong).toEqual([]);
  });

  it("is shown by us some seconds after its time where the server does not, and its schedule goes", async () => {
    const world = await createPeertubeWorld();
    world.fake.videos.flips = false;
    const post = await add(world, ahead(world));
    expect((await finish(world.ctx, post.id)).status).toBe("published");
    const { shownAt, fields } = only(world);
    expect(shownAt! - post.scheduled_at).toBeGreaterThanOrEqual(0);
    expect(shownAt! - post.scheduled_at).toBeLessThan(MINUTE);
    expect(fields).toMatchObject({ privacy: 1 });
    expect(fields).not.toHaveProperty("scheduleUpdate");
  });

  it("is left to the server where that is in time", async () => {
    const world = await createPeertubeWorld();
    const { scheduled_at, ...rest } = ahead(world);
    const post = await add(world, { ...rest, scheduled_at: scheduled_at - 20 * SECOND });
    expect((await finish(world.ctx, post.id)).status).toBe("published");
    expect(only(world).shownAt).toBe(post.scheduled_at);
    expect(world.fake.requests).not.toContain("PUT /videos/{id}");
  });

  it("is not said to be there before it is transcoded, however long that takes", async () => {
    const world = await createPeertubeWorld();
    world.fake.videos.processingMs = 50 * MINUTE;
    const startedAt = world.clock.now();
    const { id } = await add(world);
    expect((await finish(world.ctx, id)).status).toBe("published");
    expect(only(world).shownAt! - startedAt).toBeGreaterThanOrEqual(50 * MINUTE);
  });

  it("stays private, or is shown before it is transcoded, as it was meant", async () => {
    const world = await createPeertubeWorld();
    world.fake.videos.processingMs = 50 * MINUTE;
    const quick = await add(world, { metadata: { waitTranscoding: false } });
    expect((await finish(world.ctx, quick.id)).status).toBe("published");
    expect(only(world).shownAt! - quick.scheduled_at).toBeLessThan(MINUTE);
    const hidden = await add(world, { metadata: { visibility: "private" }, ...ahead(world) });
    expect((await finish(world.ctx, hidden.id)).status).toBe("published");
    expect([...world.fake.videos.all.values()][1]?.shownAt).toBeNull();
  });

  it("waits for the server's moderators where they look at videos first", async () => {
    const world = await createPeertubeWorld();
    world.fake.videos.blocked = true;
    const { id } = await add(world);
    for (let n = 0; n < 12; n += 1) {
      await drain(world.ctx);
      await world.clock.advance(5 * SECOND);
    }
    const row = await readPost(world.ctx, id);
    expect(row).toMatchObject({ status: "uploaded", error: expect.stringContaining("moderators") });
    world.fake.videos.blocked = false;
    expect((await finish(world.ctx, id)).status).toBe("published");
  });

  it("fails with a reason when the server cannot use it", async () => {
    const world = await createPeertubeWorld();
    world.fake.videos.endState = 7;
    const { id } = await add(world);
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("could not process the video"),
    });
  });
});

async function addLong(world: PeertubeWorld) {
  world.media.set(LONG_URL, { bytes: Buffer.alloc(SIZE, 7), mimeType: "video/mp4" });
  return add(world, { media_url: LONG_URL });
}

/** At the n-th chunk, once. */
function onceAt({ fake }: PeertubeWorld, chunk: number, when: "begun" | "stored", work: () => void): void {
  fake.uploads.onChunk = async (moment) => {
    if (fake.uploads.chunkSizes.length !== chunk || moment !== when) return;
    fake.uploads.onChunk = async () => {};
    work();
  };
}

function breakOff(): never {
  throw new OutboundFailure("The connection broke off.", true);
}

describe("an upload to PeerTube", () => {
  it.each([
    [1, "begun"],
    [2, "stored"],
    [3, "begun"],
    [3, "stored"],
  ] as const)("goes on where it was when chunk %i breaks off (%s)", async (chunk, when) => {
    const world = await createPeertubeWorld();
    const { id } = await addLong(world);
    onceAt(world, chunk, when, breakOff);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    const { uploads, videos, wrong } = world.fake;
    expect([videos.all.size, wrong]).toEqual([1, []]);
    expect(uploads.bytesIn - SIZE).toBeLessThanOrEqual(8 * MiB);
  });

  it.each([[true], [false]])("takes the answer that an older server repeats (it does: %s)", async (keeps) => {
    const world = await createPeertubeWorld();
    world.fake.uploads.keepsSessions = keeps;
    const { id } = await addLong(world);
    onceAt(world, 3, "stored", breakOff);
    expect((await finish(world.ctx, id)).status).toBe("published");
    expect(world.fake.requests.includes("GET /users/me/videos")).toBe(!keeps);
  });

  it.each([[true], [false]])(
    "finds its own video among others of the same title (names of files are told: %s)",
    async (isTold) => {
      const world = await createPeertubeWorld();
      world.fake.videos.tellsSource = isTold;
      const { id } = await addLong(world);
      onceAt(world, 3, "stored", () => {
        const fields = { channelId: 7, name: "The horn", privacy: 3, filename: "other.mp4" };
        if (isTold) world.fake.videos.create(fields, SIZE);
        breakOff();
      });
      const row = await finish(world.ctx, id);
      expect([row.status, row.platform_post_id]).toEqual(["published", only(world).uuid]);
    },
  );

  it("begins anew when no video came of a last chunk that was lost with its session", async () => {
    const world = await createPeertubeWorld();
    const { id } = await addLong(world);
    onceAt(world, 3, "begun", () => {
      world.fake.uploads.sessions.clear();
      breakOff();
    });
    expect((await finish(world.ctx, id)).status).toBe("published");
    expect(world.fake.videos.all.size).toBe(1);
  });
});

describe("what PeerTube takes", () => {
  it("is published with a warning when its thumbnail is refused", async () => {
    const world = await createPeertubeWorld();
    const refusal = problem(400, "x", "no", { "invalid-params": { thumbnailfile: {} } });
    world.fake.state.next.set("PUT /videos/{id}", [{ status: 204 }, refusal]);
    world.fake.videos.flips = true;
    const { id } = await add(world, {
      metadata: { thumbnailUrl: PHOTO_URL, visibility: "private" },
      scheduled_at: world.clock.now(),
    });
    world.fake.state.next.set("PUT /videos/{id}", [refusal]);
    const row = await finish(world.ctx, id);
    expect(row.status).toBe("published");
    expect(row.warnings).toMatch(/The thumbnail/);
  });
});
