import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../../src/domain/time.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import type { Tables } from "../../../src/store/schema/tables.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL, SUBTITLES, SUBTITLES_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { forbidden } from "./problems.ts";
import { createWorld, type World } from "./world.ts";

const GIF_URL = "https://media.example/moving.gif";
const FILM_URL = "https://media.example/long.mp4";
const MB = 1024 * 1024;

interface Post {
  readonly caption?: string;
  readonly mediaUrl?: string;
  readonly metadata?: JsonObject;
  readonly leadMinutes?: number;
}

async function add(world: World, account: Tables["accounts"], post: Post, inMs = 0) {
  const at = world.ctx.clock.now() + inMs;
  return addPost(world.ctx, account, {
    caption: post.caption ?? "Hello",
    media_url: post.mediaUrl ?? "",
    metadata: JSON.stringify(post.metadata ?? {}),
    scheduled_at: at,
    due_at: at - (post.leadMinutes ?? 0) * MINUTE,
    next_at: at - (post.leadMinutes ?? 0) * MINUTE,
    lead_minutes: post.leadMinutes ?? null,
  });
}

describe("a post on X", () => {
  it("has what was asked for, and nothing else", async () => {
    await using world = await createWorld();
    const { id } = await add(world, await world.connect(), {
      caption: "Pictures",
      mediaUrl: PHOTO_URL,
      metadata: {
        altText: "A horn",
        moreMedia: [{ url: PHOTO_URL }, { url: PHOTO_URL, altText: "Again" }],
        replySettings: "mentionedUsers",
        communityId: "1500000000000000001",
        madeWithAi: true,
        paidPartnership: true,
        thread: [{ caption: "Two", mediaUrl: CLIP_URL }, { caption: "Three" }],
      },
    });
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", warnings: null });
    const [head, second, third] = world.fake.posts.all;
    const { mediaIds = [] } = head ?? {};
    const told = { paid_partnership: true };
    expect([head?.body, second?.body, third?.body]).toEqual([
      {
        text: "Pictures",
        media: { media_ids: mediaIds },
        reply_settings: "mentionedUsers",
        community_id: "1500000000000000001",
        made_with_ai: true,
        ...told,
      },
      {
        text: "Two",
        media: { media_ids: second?.mediaIds },
        reply: { in_reply_to_tweet_id: head?.id },
        made_with_ai: true,
        ...told,
      },
      { text: "Three", reply: { in_reply_to_tweet_id: second?.id }, ...told },
    ]);
    const media = mediaIds.map((one) => world.fake.media.all.get(one));
    expect(media.map((one) => [one?.category, one?.altText])).toEqual([
      ["tweet_image", "A horn"],
      ["tweet_image", null],
      ["tweet_image", "Again"],
    ]);
  });

  it("asks in its first part, or shows another post there", async () => {
    await using world = await createWorld();
    const account = await world.connect();
    const poll = { options: ["Yes", "No"], hours: 0.5 };
    const quote = "https://twitter.com/bob/status/1900000000000000001?s=20";
    const posts = [
      { caption: "Which?", metadata: { poll, thread: [{ caption: "More" }] } },
      { caption: "Look", metadata: { quote } },
    ];
    for (const post of posts)
      expect(await finish(world.ctx, (await add(world, account, post)).id)).toMatchObject({
        status: "published",
        warnings: null,
      });
    const [asked, more, shows] = world.fake.posts.all.map(({ body }) => body);
    expect(asked).toEqual({ text: "Which?", poll: { options: ["Yes", "No"], duration_minutes: 30 } });
    expect(more).not.toHaveProperty("poll");
    expect(shows).toEqual({ text: "Look", quote_tweet_id: "1900000000000000001" });
  });

  it("goes on with a warning where its thread does not, and cannot be sent a second time", async () => {
    await using world = await createWorld();
    const { id } = await add(world, await world.connect(), { metadata: { thread: [{ caption: "Two" }] } });
    const outbound: Outbound = {
      assertAllowed: (field, url) => world.fake.assertAllowed(field, url),
      request(request) {
        if (world.fake.posts.all.length > 0 && request.url.endsWith("/2/tweets"))
          world.fake.refusals.set(
            "POST /2/tweets",
            forbidden("You are not permitted to perform this action."),
          );
        return world.fake.request(request);
      },
    };
    expect(await finish(world.ctx, id, { ...world.ctx, outbound })).toMatchObject({
      status: "published",
      platform_post_id: world.fake.posts.heads[0]?.id,
      warnings: expect.stringMatching(/The thread did not go through: X does not permit/),
    });
  });

  it("has its media at X ahead, and shows them at its time", async () => {
    await using world = await createWorld();
    const film = { mediaUrl: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL }, leadMinutes: 30 };
    const { id } = await add(world, await world.connect(), film, 30 * MINUTE);
    await drain(world.ctx);
    const { all } = world.fake.media;
    expect([...all.values()].map(({ category }) => category)).toEqual(["tweet_video"]);
    // Asked about as X says, until it has processed them.
    expect((await readPost(world.ctx, id)).next_at).toBe(world.ctx.clock.now() + 3_000);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    const [head] = world.fake.posts.heads;
    const [video, picture] = [...all.keys()];
    expect(head?.body["media"]).toEqual({ media_ids: [video], preview_media_id: picture });
    expect(head?.createdAt).toBe((await readPost(world.ctx, id)).scheduled_at);
  });

  it("gives a film its subtitles before it is posted, once", async () => {
    await using world = await createWorld();
    const subtitles = [
      { url: SUBTITLES_URL, language: "en", name: "Words" },
      { url: SUBTITLES_URL, language: "pt-BR" },
    ];
    const { id } = await add(world, await world.connect(), { mediaUrl: CLIP_URL, metadata: { subtitles } });
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    const { all } = world.fake.media;
    const text = SUBTITLES.bytes.toString("utf8");
    expect([...all.values()][0]?.subtitles).toEqual([
      { language: "EN", name: "Words", text },
      { language: "PT", name: "Brazilian Portuguese", text },
    ]);
    expect(all.size).toBe(3);
  });

  it("sends media anew that X forgets before its time", async () => {
    await using world = await createWorld();
    const picture = { mediaUrl: PHOTO_URL, metadata: { altText: "A horn" }, leadMinutes: 22 * 60 };
    const { id } = await add(world, await world.connect(), picture, 22 * HOUR);
    await drain(world.ctx);
    expect(world.fake.media.all.size).toBe(1);
    // The machine was off for a while.
    await world.ctx.clock.advance(22 * HOUR + 55 * MINUTE);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.fake.media.all.size).toBe(2);
    expect([...world.fake.media.all.values()].at(-1)?.altText).toBe("A horn");
  });

  it("fails for a film that X cannot process, and says why", async () => {
    await using world = await createWorld();
    world.fake.media.isBreaking = true;
    const { id } = await add(world, await world.connect(), { mediaUrl: CLIP_URL });
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: X could not process/),
    });
  });

  it("sends a film in segments and, cut off, one of them again at most", async () => {
    await using world = await createWorld();
    world.media.set(FILM_URL, { bytes: Buffer.alloc(10 * MB, 7), mimeType: "video/mp4" });
    let appends = 0;
    const isAppend = ({ url }: OutboundRequest): boolean => url.endsWith("/append");
    const outbound: Outbound = {
      assertAllowed: (field, url) => world.fake.assertAllowed(field, url),
      async request(request) {
        const answer = await world.fake.request(request);
        if (isAppend(request) && ++appends === 2) throw new OutboundFailure("It broke off.", true);
        return answer;
      },
    };
    const { id } = await add(world, await world.connect(), { mediaUrl: FILM_URL });
    expect(await finish(world.ctx, id, { ...world.ctx, outbound })).toMatchObject({ status: "published" });
    expect(world.fake.media.segments).toEqual(Array.from({ length: 11 }, () => MB));
    expect(world.fake.media.all.size).toBe(1);
  });

  it.each([413, 431])("goes on with smaller segments where X's edge answers %i", async (status) => {
    await using world = await createWorld();
    world.media.set(FILM_URL, { bytes: Buffer.alloc(2 * MB + 5, 7), mimeType: "video/mp4" });
    Object.assign(world.fake, { edgeStatus: status, edgeBytes: MB / 4 + 1_000 });
    const { id } = await add(world, await world.connect(), { mediaUrl: FILM_URL });
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.fake.media.segments).toEqual([...Array.from({ length: 8 }, () => MB / 4), 5]);
    expect(world.fake.refusedByEdge).toBe(2);
    expect(world.fake.media.all.size).toBe(1);
  });

  it("gives a film up that X's edge refuses in the smallest segments too, and says so", async () => {
    await using world = await createWorld();
    world.media.set(FILM_URL, { bytes: Buffer.alloc(MB, 7), mimeType: "video/mp4" });
    world.fake.edgeBytes = 100_000;
    const { id } = await add(world, await world.connect(), { mediaUrl: FILM_URL });
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: X's servers refused the file in parts of 128 KB/),
    });
    expect(world.fake.refusedByEdge).toBe(4);
  });

  it("asks about a film when X says so, also in minutes", async () => {
    await using world = await createWorld();
    world.fake.media.checkAfterSecs = 240;
    const { id } = await add(world, await world.connect(), { mediaUrl: CLIP_URL });
    await drain(world.ctx);
    expect((await readPost(world.ctx, id)).next_at).toBe(world.ctx.clock.now() + 240_000);
    expect(world.fake.requests.filter((one) => one === "GET /2/media/upload")).toHaveLength(0);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(world.fake.requests.filter((one) => one === "GET /2/media/upload")).toHaveLength(2);
  });

  it("begins an upload anew that X has forgotten in the middle", async () => {
    await using world = await createWorld();
    world.media.set(FILM_URL, { bytes: Buffer.alloc(5 * MB, 7), mimeType: "video/mp4" });
    let isForgotten = false;
    const outbound: Outbound = {
      assertAllowed: (field, url) => world.fake.assertAllowed(field, url),
      async request(request) {
        const answer = await world.fake.request(request);
        if (!request.url.endsWith("/append") || isForgotten) return answer;
        isForgotten = true;
        world.fake.media.all.clear();
        throw new OutboundFailure("It broke off.", true);
      },
    };
    const { id } = await add(world, await world.connect(), { mediaUrl: FILM_URL });
    expect(await finish(world.ctx, id, { ...world.ctx, outbound })).toMatchObject({ status: "published" });
  });
});

describe("media of one post", () => {
  it.each([
    [
      "a film beside pictures",
      { mediaUrl: CLIP_URL, metadata: { moreMedia: [{ url: PHOTO_URL }] } },
      /^metadata.moreMedia: a post/,
    ],
    [
      "a thumbnail before a picture",
      { mediaUrl: PHOTO_URL, metadata: { thumbnailUrl: PHOTO_URL } },
      /^metadata.thumbnailUrl: /,
    ],
  ])("is not %s, which is found when it is sent", async (_what, post, error) => {
    await using world = await createWorld();
    const { id } = await add(world, await world.connect(), post);
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(error),
    });
    expect(world.fake.media.all.size).toBe(0);
  });

  it("go out as a GIF, where they move, alone", async () => {
    await using world = await createWorld();
    world.media.set(GIF_URL, { bytes: Buffer.from("GIF89a…"), mimeType: "image/gif" });
    const source = world.ctx.media;
    const media: typeof source = {
      ...source,
      forPost: (owner, signal) => {
        const own = source.forPost(owner, signal);
        const item: typeof own.item = async (url, altText) => {
          const found = await own.item(url, altText);
          return { ...found, facts: { ...found.facts, isAnimated: url === GIF_URL } };
        };
        return { ...own, item };
      },
    };
    const worker = { ...world.ctx, media };
    const account = await world.connect();
    const alone = await add(world, account, { mediaUrl: GIF_URL });
    expect(await finish(world.ctx, alone.id, worker)).toMatchObject({ status: "published" });
    expect([...world.fake.media.all.values()].map(({ category }) => category)).toEqual(["tweet_gif"]);
    const both = await add(world, account, {
      caption: "Both",
      mediaUrl: GIF_URL,
      metadata: { moreMedia: [{ url: PHOTO_URL }] },
    });
    expect((await finish(world.ctx, both.id, worker)).error).toMatch(/^metadata.moreMedia: a post on X/);
  });
});
