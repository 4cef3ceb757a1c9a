import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import { cancelPost } from "../../../src/posts/posts.ts";
import { drain } from "../../support/publishing.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { CLIP, CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { refusal } from "./fake.ts";
import { GIF_URL, openWorld, SOUND_URL } from "./world.ts";

const IMAGE = { type: "image", media: [{ type: "image/jpeg", width: 64, height: 48 }] };

describe("a post on Tumblr", () => {
  it("is of blocks: heading, pictures beside each other, paragraphs with links, a card", async () => {
    await using world = await openWorld();
    const caption = "👩‍👩‍👧 see https://a.example/ü.\n\nEnd";
    const moreMedia = Array(3).fill({ url: PHOTO_URL, altText: "Another" });
    const metadata = {
      title: "Das Hörn",
      tags: ["a b", "c"],
      link: "https://b.example",
      altText: "A",
      moreMedia,
    };
    const row = await world.end(
      await world.post(await world.connect(), metadata, { caption, media_url: PHOTO_URL }),
    );
    const [post] = world.fake.blogs.posts;
    expect(post?.fields).toMatchObject({
      tags: "a b,c",
      interactability_reblog: "everyone",
      slug: expect.stringMatching(/^das-horn-[0-9a-f]{12}$/),
      layout: [{ type: "rows", display: [[0], [1, 2, 3], [4], [5], [6], [7]].map((blocks) => ({ blocks })) }],
      content: [
        { type: "text", subtype: "heading1", text: "Das Hörn" },
        { ...IMAGE, alt_text: "A" },
        ...Array(3).fill({ ...IMAGE, alt_text: "Another" }),
        {
          text: "👩‍👩‍👧 see https://a.example/ü.",
          formatting: [{ type: "link", start: 10, end: 29, url: "https://a.example/ü" }],
        },
        { text: "End" },
        { type: "link", url: "https://b.example" },
      ],
    });
    expect(row).toMatchObject({
      status: "published",
      platform_post_id: post?.id,
      platform_url: `https://www.tumblr.com/posthorn/${post?.id}`,
    });
  });

  it("is of Tumblr's own blocks where it is written in Markdown", async () => {
    await using world = await openWorld();
    const caption =
      "# Big\n\n## Small\n\n👩 **bold _both_** ~~x~~ `c`\n[a](https://a.example)\n\n- one\n- two\n\n1. three\n\n> said\n\n```\ncode\n```";
    const row = await world.end(await world.post(await world.connect(), { format: "markdown" }, { caption }));
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.fake.blogs.posts[0]?.fields.content).toEqual([
      { type: "text", subtype: "heading1", text: "Big" },
      { type: "text", subtype: "heading2", text: "Small" },
      {
        type: "text",
        text: "👩 bold both x c\na",
        formatting: [
          { type: "bold", start: 2, end: 11 },
          { type: "italic", start: 7, end: 11 },
          { type: "strikethrough", start: 12, end: 13 },
          { type: "link", start: 16, end: 17, url: "https://a.example" },
        ],
      },
      { type: "text", subtype: "unordered-list-item", text: "one" },
      { type: "text", subtype: "unordered-list-item", text: "two" },
      { type: "text", subtype: "ordered-list-item", text: "three" },
      { type: "text", subtype: "indented", text: "said" },
      { type: "text", text: "code" },
    ]);
  });

  it("goes on in the next block where a paragraph is too long, between words", async () => {
    await using world = await openWorld();
    const caption = `${"x".repeat(4_090)} ${"😻".repeat(5_000)}`;
    await world.end(await world.post(await world.connect(), {}, { caption }));
    const texts = world.fake.blogs.posts[0]?.fields.content.map(({ text }: { text: string }) => text);
    expect(texts.map((text: string) => [...text].length)).toEqual([4_091, 4_096, 904]);
    expect(texts.join("")).toBe(caption);
  });

  it("has films, sounds and moving pictures as they are", async () => {
    await using world = await openWorld();
    const moreMedia = [{ url: SOUND_URL }, { url: GIF_URL }];
    const post = await world.post(
      await world.connect(),
      { moreMedia, allowReblogs: false },
      { media_url: CLIP_URL },
    );
    expect((await world.end(post)).status).toBe("published");
    expect(world.fake.blogs.files.map(({ type, bytes }) => [type, bytes.length])).toEqual([
      ["video/mp4", CLIP.bytes.length],
      ["audio/mpeg", 10],
      ["image/gif", 6],
    ]);
    expect(world.fake.blogs.posts[0]?.fields.interactability_reblog).toBe("noone");
  });

  it("waits for the film before, which Tumblr works on", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const posts = [];
    for (let count = 0; count < 2; count += 1)
      posts.push(await world.post(account, {}, { media_url: CLIP_URL }));
    for (const post of posts.toReversed()) expect((await world.end(post)).status).toBe("published");
    expect(world.fake.blogs.visible()).toHaveLength(2);
  });
});

describe("a post in Tumblr's queue", () => {
  it("is published by Tumblr, and known by its new number", async () => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), {}, { ...world.later(60), media_url: CLIP_URL });
    const held = await world.run(post);
    expect(held).toMatchObject({ status: "uploaded", platform_url: null });
    const [queued] = world.fake.blogs.posts;
    expect([queued?.state, queued?.publishOn, queued?.id]).toEqual([
      "queued",
      post.scheduled_at,
      held.platform_post_id,
    ]);
    await world.clock.advance(60 * MINUTE);
    const row = await world.end(post);
    expect(row).toMatchObject({ status: "published", platform_post_id: queued?.id });
    expect(row.platform_post_id).not.toBe(held.platform_post_id);
    expect(queued?.publicAt).toBeGreaterThanOrEqual(post.scheduled_at);
  });

  it("is published by us where Tumblr does not", async () => {
    await using world = await openWorld();
    world.fake.blogs.isAsleep = true;
    const post = await world.post(
      await world.connect(),
      { tags: ["a"] },
      { ...world.later(60), media_url: PHOTO_URL },
    );
    await world.run(post);
    await world.clock.advance(60 * MINUTE);
    expect((await world.end(post)).status).toBe("published");
    expect(world.fake.blogs.visible()).toMatchObject([{ fields: { tags: "a", content: [IMAGE, {}] } }]);
  });

  it("that somebody deleted there fails, and says so", async () => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), {}, world.later(60));
    await world.run(post);
    for (const queued of world.fake.blogs.posts) queued.isDeleted = true;
    await world.clock.advance(60 * MINUTE);
    expect(await world.end(post)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("deleted on Tumblr"),
    });
  });

  it("goes out at its time where the queue would be too late", async () => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), {}, world.later(4));
    expect((await world.run(post)).status).toBe("scheduled");
    expect(world.fake.blogs.posts).toEqual([]);
    await world.clock.advance(4 * MINUTE);
    expect((await world.end(post)).status).toBe("published");
  });

  it("goes out at its time where the queue is full", async () => {
    await using world = await openWorld();
    world.fake.refuse("POST /blog/{blog}/posts", refusal(403, 8022));
    const post = await world.post(await world.connect(), {}, world.later(60));
    expect(await world.run(post)).toMatchObject({
      status: "scheduled",
      next_at: post.scheduled_at,
      error: null,
    });
    await world.clock.advance(60 * MINUTE);
    expect((await world.end(post)).status).toBe("published");
  });

  it("is found again on a later page of the queue, where the answer is lost", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const first = await world.post(account, {}, world.later(30));
    await world.run(first);
    const [queued] = world.fake.blogs.posts;
    if (queued === undefined) throw new Error("Nothing was queued.");
    for (let count = 0; count < 25; count += 1)
      world.fake.blogs.posts.push({
        ...queued,
        id: world.fake.blogs.newId(),
        fields: { ...queued.fields, slug: "x" },
      });
    const { door } = world.fake;
    let isLost = false;
    const outbound: typeof door = {
      ...door,
      request: async (request) => {
        const answer = await door.request(request);
        if (request.method !== "POST" || isLost) return answer;
        isLost = true;
        throw new OutboundFailure("The answer broke off.", true);
      },
    };
    const second = await world.post(account, {}, world.later(60));
    await drain({ ...world.ctx, outbound });
    await world.clock.advance(5_000);
    expect((await world.run(second)).status).toBe("uploaded");
    expect(world.fake.blogs.posts).toHaveLength(27);
  });

  it("is taken back, until it is live", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const posts = [];
    for (let count = 0; count < 2; count += 1) posts.push(await world.post(account, {}, world.later(60)));
    for (const post of posts) expect((await world.run(post)).status).toBe("uploaded");
    await cancelPost(world.call, { id: posts[0]?.id ?? "", fromPlatform: true });
    expect(world.fake.blogs.posts.map(({ isDeleted }) => isDeleted).toSorted()).toEqual([false, true]);
    await world.clock.advance(60 * MINUTE + 50_000);
    const late = cancelPost(world.call, { id: posts[1]?.id ?? "", fromPlatform: true });
    await expect(late).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("It went live on Tumblr a moment ago"),
    });
    expect(world.fake.blogs.visible()).toHaveLength(1);
  });
});

describe("what Tumblr refuses", () => {
  const MIDNIGHT = Date.parse("2026-11-22T05:00:00Z");

  it.each([
    [{ "x-ratelimit-perhour-remaining": "0", "x-ratelimit-perhour-reset": "600" }, 600_000],
    [{ "x-ratelimit-perday-remaining": "0", "x-ratelimit-perday-reset": "1200" }, 1_200_000],
  ])("waits until the app's limit begins anew: %j", async (headers, waitMs) => {
    await using world = await openWorld();
    const account = await world.connect();
    world.fake.refuse("POST /blog/{blog}/posts", refusal(429, 0, headers));
    const row = await world.run(await world.post(account));
    expect(row).toMatchObject({ status: "scheduled", next_at: world.clock.now() + waitMs, in_doubt: 0 });
  });

  it("waits for midnight in New York where the day's limit is used up", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    await world.clock.advance(MIDNIGHT - 20 * MINUTE - world.clock.now());
    world.fake.refuse("POST /blog/{blog}/posts", refusal(403, 8023));
    expect((await world.run(await world.post(account))).next_at).toBe(MIDNIGHT);
  });
});
