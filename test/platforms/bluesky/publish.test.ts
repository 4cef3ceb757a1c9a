import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createBlueskyWorld, type BlueskyWorld } from "../../support/bluesky.ts";
import { startPds, type PdsRecord, type PdsUser, type TestPds } from "../../support/pds.ts";

let pds: TestPds;
beforeAll(async () => {
  pds = await startPds();
});

const fixture = (name: string): Promise<Buffer> =>
  readFile(new URL(`../../fixtures/${name}`, import.meta.url));

async function connected(
  world: BlueskyWorld,
): Promise<{ user: PdsUser; account: Awaited<ReturnType<BlueskyWorld["connect"]>> }> {
  const user = await pds.createUser();
  return { user, account: await world.connect(user) };
}

const Faceted = z.object({
  text: z.string(),
  facets: z.array(
    z.object({
      index: z.object({ byteStart: z.int(), byteEnd: z.int() }),
      features: z.array(z.record(z.string(), z.string())).length(1),
    }),
  ),
});

/** Each facet's stretch of text, cut by bytes, with what it is. */
function facetsOf(record: PdsRecord | undefined): [string, Record<string, string>][] {
  const { text, facets } = Faceted.parse(record?.value);
  const bytes = Buffer.from(text);
  return facets.map(({ index, features }) => [
    bytes.subarray(index.byteStart, index.byteEnd).toString(),
    features[0] ?? {},
  ]);
}

describe("text", () => {
  it("has links, mentions of people that exist, and tags, each at its bytes", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    const bobby = await pds.createUser();
    const caption = `Grüße 👩‍👩‍👧 an @${bobby.handle} und @nobody.test: https://example.com/a?b=(c) example.com #日本 #tag!`;
    const post = await world.publish(account, { caption, metadata: { language: "de", tags: ["extra"] } });

    const [record, ...more] = await user.records();
    expect(more).toEqual([]);
    expect(post).toMatchObject({ status: "published", error: null, platform_post_id: record?.uri });
    expect(post.platform_url).toBe(
      `https://bsky.app/profile/${user.handle}/post/${record?.uri.split("/").at(-1)}`,
    );
    expect(record?.value).toMatchObject({
      text: caption,
      langs: ["de"],
      tags: ["extra"],
      createdAt: "2026-11-21T09:00:00.000Z",
    });
    expect(facetsOf(record)).toEqual([
      [`@${bobby.handle}`, { $type: "app.bsky.richtext.facet#mention", did: bobby.did }],
      [
        "https://example.com/a?b=(c)",
        { $type: "app.bsky.richtext.facet#link", uri: "https://example.com/a?b=(c)" },
      ],
      ["example.com", { $type: "app.bsky.richtext.facet#link", uri: "https://example.com" }],
      ["#日本", { $type: "app.bsky.richtext.facet#tag", tag: "日本" }],
      ["#tag", { $type: "app.bsky.richtext.facet#tag", tag: "tag" }],
    ]);
  });

  it("may have 300 graphemes of many bytes each, as the server counts too", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    const caption = "🇩🇪".repeat(300);
    expect(await world.publish(account, { caption })).toMatchObject({ status: "published" });
    expect((await user.records())[0]?.value["text"]).toBe(caption);
  });

  it("is refused before anything is sent when it is longer", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    const post = await world.publish(account, { caption: "x".repeat(301) });
    expect(post).toMatchObject({ status: "failed", in_doubt: 0 });
    expect(post.error).toContain("has 301 characters, and Bluesky takes 300");
    expect(await user.records()).toEqual([]);
  });

  it("carries warnings, reply rules and a link card with its picture", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    const bytes = await fixture("photo.png");
    world.media.set("https://media.example/thumb.png", {
      bytes,
      mimeType: "image/png",
      width: 64,
      height: 48,
    });
    const metadata = {
      link: "https://example.com/article",
      title: "An article",
      description: "About something",
      thumbnailUrl: "https://media.example/thumb.png",
      contentLabel: "nudity",
      replyRules: ["mentioned", "followers"],
      allowQuotes: false,
    };
    expect(await world.publish(account, { caption: "Read this", metadata })).toMatchObject({
      status: "published",
      error: null,
    });

    const [record] = await user.records();
    expect(record?.value).toMatchObject({
      labels: { $type: "com.atproto.label.defs#selfLabels", values: [{ val: "nudity" }] },
      embed: {
        $type: "app.bsky.embed.external",
        external: {
          uri: metadata.link,
          title: "An article",
          description: "About something",
          thumb: { $type: "blob", size: bytes.length },
        },
      },
    });
    const [threadgate] = await user.records("app.bsky.feed.threadgate");
    expect(threadgate?.value).toMatchObject({
      post: record?.uri,
      allow: [
        { $type: "app.bsky.feed.threadgate#mentionRule" },
        { $type: "app.bsky.feed.threadgate#followerRule" },
      ],
    });
    expect(await user.records("app.bsky.feed.postgate")).toHaveLength(1);
  });
});

const Images = z.object({
  images: z.array(
    z.object({
      alt: z.string(),
      aspectRatio: z.object({ width: z.int(), height: z.int() }),
      image: z.object({ ref: z.object({ $link: z.string() }) }),
    }),
  ),
});

describe("media", () => {
  it("are up to four pictures with alt text, in their order", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    const files = await Promise.all(["photo.png", "photo.jpg"].map(fixture));
    const pictures = [0, 1, 2, 3].map((at) => ({
      bytes: Buffer.concat([files[at % 2] ?? Buffer.alloc(0), Buffer.from([at])]),
      at,
    }));
    for (const { bytes, at } of pictures) {
      world.media.set(`https://m.example/${at}`, {
        bytes,
        mimeType: at % 2 === 0 ? "image/png" : "image/jpeg",
        width: 40 + at,
        height: 30,
      });
    }
    const moreMedia = [1, 2, 3].map((at) => ({ url: `https://m.example/${at}`, altText: `Picture ${at}` }));
    const post = await world.publish(account, {
      caption: "Four",
      mediaUrl: "https://m.example/0",
      metadata: { altText: "Picture 0", moreMedia },
    });
    expect(post).toMatchObject({ status: "published", error: null });

    const [record] = await user.records();
    const { images } = Images.parse(record?.value["embed"]);
    expect(images.map(({ alt, aspectRatio }) => [alt, aspectRatio.width])).toEqual(
      [0, 1, 2, 3].map((at) => [`Picture ${at}`, 40 + at]),
    );
    for (const [at, image] of images.entries())
      expect(await user.blob(image.image.ref.$link)).toEqual(pictures[at]?.bytes);
  });

  it("is one video, streamed as it is where the network has no video service", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    const bytes = await fixture("clip.mp4");
    world.media.set("https://m.example/clip", { bytes, mimeType: "video/mp4", width: 320, height: 240 });
    const post = await world.publish(account, {
      caption: "Moving",
      mediaUrl: "https://m.example/clip",
      metadata: { altText: "A clip" },
    });
    expect(post).toMatchObject({ status: "published", error: null });
    const Embed = z.object({
      $type: z.string(),
      alt: z.string(),
      video: z.object({ mimeType: z.string(), ref: z.object({ $link: z.string() }) }),
    });
    const embed = Embed.parse((await user.records())[0]?.value["embed"]);
    expect(embed).toMatchObject({
      $type: "app.bsky.embed.video",
      alt: "A clip",
      video: { mimeType: "video/mp4" },
    });
    expect(await user.blob(embed.video.ref.$link)).toEqual(bytes);
  });

  it.each([
    ["a video beside a picture", "video/mp4", "image/png", "one video, or up to four pictures"],
    ["sound", "audio/mpeg", null, "must be image or video on Bluesky"],
    ["another video format", "video/webm", null, "must be video/mp4 on Bluesky"],
  ])("cannot be %s", async (_what, first, second, sentence) => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    world.media.set("https://m.example/1", { bytes: Buffer.from("one"), mimeType: first });
    world.media.set("https://m.example/2", { bytes: Buffer.from("two"), mimeType: second ?? "image/png" });
    const metadata = second === null ? {} : { moreMedia: [{ url: "https://m.example/2" }] };
    const post = await world.publish(account, { caption: "No", mediaUrl: "https://m.example/1", metadata });
    expect(post).toMatchObject({ status: "failed", in_doubt: 0 });
    expect(post.error).toContain(sentence);
    expect(await user.records()).toEqual([]);
  });
});

const Reply = z.object({
  root: z.object({ uri: z.string(), cid: z.string() }),
  parent: z.object({ uri: z.string(), cid: z.string() }),
});

describe("threads", () => {
  it("stand whole, each part a reply to the exact content before it", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    world.media.set("https://m.example/2", {
      bytes: await fixture("photo.png"),
      mimeType: "image/png",
      width: 4,
      height: 3,
    });
    const thread = [
      { caption: "Second 2️⃣", mediaUrl: "https://m.example/2", altText: "Two" },
      { caption: "Third https://example.com" },
    ];
    const post = await world.publish(account, {
      caption: "First",
      metadata: { thread, replyRules: "nobody" },
    });
    expect(post).toMatchObject({ status: "published", error: null });

    const records = await user.records();
    expect(records.map(({ value }) => value["text"])).toEqual([
      "First",
      "Second 2️⃣",
      "Third https://example.com",
    ]);
    const [first, second, third] = records;
    expect(post.platform_post_id).toBe(first?.uri);
    expect(first?.value["reply"]).toBeUndefined();
    const ref = (record: PdsRecord | undefined): object => ({ uri: record?.uri, cid: record?.cid });
    expect(Reply.parse(second?.value["reply"])).toEqual({ root: ref(first), parent: ref(first) });
    expect(Reply.parse(third?.value["reply"])).toEqual({ root: ref(first), parent: ref(second) });
  });
});

describe("preparing ahead", () => {
  it("sends media before the time and nothing that can be seen", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account } = await connected(world);
    world.media.set("https://m.example/1", {
      bytes: await fixture("photo.png"),
      mimeType: "image/png",
      width: 4,
      height: 3,
    });
    const { ctx } = world;
    const at = ctx.clock.now() + 10 * 60_000;
    const row = await world.schedule(
      account,
      { caption: "Later", mediaUrl: "https://m.example/1" },
      { scheduled_at: at, due_at: ctx.clock.now(), next_at: ctx.clock.now() },
    );
    await world.tick();
    expect(await user.records()).toEqual([]);
    expect(await world.read(row.id)).toMatchObject({ status: "scheduled", next_at: at });
    await ctx.clock.advance(10 * 60_000);
    expect(await world.finish(row.id)).toMatchObject({ status: "published", published_at: at });
    expect((await user.records())[0]?.value["createdAt"]).toBe(new Date(at).toISOString());
  });
});
