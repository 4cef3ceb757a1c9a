import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { OutboundFailure, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { refusal } from "./spec.ts";
import { createVimeoWorld, type VimeoWorld } from "./world.ts";

const MiB = 1024 * 1024;
const SIZE = 40 * MiB + 12_345;
const LONG_URL = "https://media.example/long.mp4";

async function add({ ctx, account }: VimeoWorld, { metadata = {}, ...row }: Record<string, unknown> = {}) {
  return addPost(ctx, account, { media_url: CLIP_URL, metadata: JSON.stringify(metadata), ...row });
}

const only = ({ fake }: VimeoWorld) => [...fake.videos.all.values()][0]!;

describe("a film on Vimeo", () => {
  it("is sent for nobody to see, as it was written, and shown at its time", async () => {
    const world = await createVimeoWorld();
    const { ctx, fake, clock } = world;
    const scheduled_at = clock.now() + HOUR;
    const metadata = {
      title: "The horn",
      tags: ["horn", "post horn"],
      license: "by-nc",
      language: "de",
      comments: "disabled",
      embeddable: false,
      downloadEnabled: true,
      thumbnailUrl: PHOTO_URL,
    };
    const due = { due_at: clock.now(), lead_minutes: 60 };
    const post = await add(world, { caption: "*A* horn", metadata, scheduled_at, ...due });
    await drain(ctx);
    const video = only(world);
    expect(video.fields).toEqual({
      name: "The horn",
      description: "*A* horn",
      license: "by-nc",
      locale: "de",
    });
    const rest = { comments: "nobody", embed: "private", download: true };
    expect(video.privacy).toEqual({ view: "nobody", ...rest });
    expect([video.received, video.shownAt]).toEqual([video.total, null]);
    expect(video.pictures.map(({ isActive }) => isActive)).toEqual([true]);
    const there = { platform_post_id: video.id, platform_url: `https://vimeo.com/${video.id}` };
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "uploaded", error: null, ...there });
    expect(await finish(ctx, post.id)).toMatchObject({ status: "published", warnings: null, ...there });
    expect(video.privacy).toEqual({ view: "anybody", ...rest });
    expect(video.shownAt! - scheduled_at).toBeGreaterThanOrEqual(0);
    expect(video.shownAt! - scheduled_at).toBeLessThan(30 * SECOND);
    expect(video.tags).toEqual(["horn", "post horn"]);
    expect(fake.wrong).toEqual([]);
  });

  it("has the first line of its text for a title, and the address that an unlisted one gets", async () => {
    const world = await createVimeoWorld();
    const { id } = await add(world, { caption: "A horn\nand more", metadata: { visibility: "unlisted" } });
    const row = await finish(world.ctx, id);
    expect(only(world).fields["name"]).toBe("A horn");
    expect(row).toMatchObject({ status: "published", platform_post_id: only(world).id });
    expect(row.platform_url).toMatch(/\/8f3b2c$/);
  });

  it("is not said to be there before anybody can watch it", async () => {
    const world = await createVimeoWorld();
    world.fake.videos.processingMs = 40 * MINUTE;
    const { id, scheduled_at } = await add(world);
    expect((await finish(world.ctx, id)).status).toBe("published");
    expect(only(world).shownAt! - scheduled_at).toBeGreaterThanOrEqual(40 * MINUTE);
  });

  it("waits, and says why, where the account's plan keeps it hidden", async () => {
    const world = await createVimeoWorld();
    world.fake.videos.refusedViews = ["unlisted"];
    const { id } = await add(world, { metadata: { visibility: "unlisted" } });
    for (let n = 0; n < 12; n += 1) {
      await drain(world.ctx);
      await world.clock.advance(5 * SECOND);
    }
    const row = await readPost(world.ctx, id);
    expect(row).toMatchObject({ status: "uploaded", error: expect.stringContaining("plan") });
  });

  it.each([
    ["transcoding_error", /could not process/],
    ["quota_exceeded", /space is used up/],
  ])("fails with a reason when Vimeo cannot use it (%s)", async (failure, sentence) => {
    const world = await createVimeoWorld();
    world.fake.videos.failure = failure;
    const row = await finish(world.ctx, (await add(world)).id);
    expect([row.status, row.error]).toEqual(["failed", expect.stringMatching(sentence)]);
  });
});

async function addLong(world: VimeoWorld) {
  world.media.set(LONG_URL, { bytes: Buffer.alloc(SIZE, 7), mimeType: "video/mp4" });
  return add(world, { media_url: LONG_URL });
}

function onceAt({ fake }: VimeoWorld, chunk: number, when: "begun" | "stored", work: () => void): void {
  fake.videos.onChunk = async (moment) => {
    if (fake.videos.chunks !== chunk || moment !== when) return;
    fake.videos.onChunk = async () => {};
    work();
  };
}

function breakOff(): never {
  throw new OutboundFailure("The connection broke off.", true);
}

describe("an upload to Vimeo", () => {
  it.each([
    [1, "begun"],
    [2, "stored"],
    [3, "begun"],
    [3, "stored"],
  ] as const)("goes on where it was when chunk %i breaks off (%s)", async (chunk, when) => {
    const world = await createVimeoWorld();
    const { id } = await addLong(world);
    onceAt(world, chunk, when, breakOff);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    const { videos, wrong } = world.fake;
    expect([videos.all.size, only(world).received, wrong]).toEqual([1, SIZE, []]);
    expect(videos.bytesIn - SIZE).toBeLessThanOrEqual(16 * MiB);
  });

  it.each([[2], [3]])("begins anew, or is done, when its address is over after chunk %i", async (chunk) => {
    const world = await createVimeoWorld();
    const { videos } = world.fake;
    const { id } = await addLong(world);
    onceAt(world, chunk, "stored", () => {
      videos.isExpired = true;
      videos.onChunk = async () => {};
      breakOff();
    });
    await drain(world.ctx);
    const { next_at: next } = await readPost(world.ctx, id);
    await world.clock.advance((next ?? 0) - world.clock.now());
    // Half a film that cannot go on is taken away; a whole one is taken.
    const request = async (one: OutboundRequest) => {
      if (one.method === "POST") videos.isExpired = false;
      return world.fake.outbound.request(one);
    };
    const worker = { ...world.ctx, outbound: { ...world.fake.outbound, request } };
    expect((await finish(world.ctx, id, worker)).status).toBe("published");
    expect([videos.all.size, only(world).received]).toEqual([1, SIZE]);
    expect(world.fake.requests.includes("DELETE /videos/{id}")).toBe(chunk === 2);
  });

  it("goes on with the video that was made when the answer to that was lost", async () => {
    const world = await createVimeoWorld();
    world.fake.videos.listedAfterMs = 30 * SECOND;
    const { id } = await add(world, { caption: "A horn" });
    let isLost = false;
    const request = async (one: OutboundRequest) => {
      const response = await world.fake.outbound.request(one);
      if (isLost || one.method !== "POST" || !one.url.endsWith("/me/videos")) return response;
      isLost = true;
      return breakOff();
    };
    const row = await finish(world.ctx, id, { ...world.ctx, outbound: { ...world.fake.outbound, request } });
    expect([row.status, world.fake.videos.all.size]).toEqual(["published", 1]);
  });
});

describe("what Vimeo takes", () => {
  it("waits until the moment that Vimeo names when there were too many calls", async () => {
    const world = await createVimeoWorld();
    const until = world.clock.now() + 7 * MINUTE;
    const headers = { "x-ratelimit-reset": new Date(until).toISOString() };
    world.fake.state.next.set("POST /me/videos", [{ ...refusal(429, 9000), headers }]);
    const { id } = await add(world);
    await drain(world.ctx);
    expect((await readPost(world.ctx, id)).next_at).toBeGreaterThanOrEqual(until);
    expect((await finish(world.ctx, id)).status).toBe("published");
  });

  it("is published with warnings when its tags or its thumbnail are refused", async () => {
    const world = await createVimeoWorld();
    world.fake.state.next.set("PUT /videos/{id}/tags", [refusal(403, 2200)]);
    world.fake.state.next.set("PUT file", [{ status: 415, text: "" }]);
    const metadata = { tags: ["horn"], thumbnailUrl: PHOTO_URL };
    const row = await finish(world.ctx, (await add(world, { metadata })).id);
    expect(row.status).toBe("published");
    expect(row.warnings).toMatch(/The thumbnail.*The tags/s);
  });
});
