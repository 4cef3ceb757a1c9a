import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { commonMetadata } from "../../src/domain/posts/common-metadata.ts";
import { definePlatform, type AnyPlatform } from "../../src/ports/platform.ts";
import bluesky from "../../src/platforms/bluesky/index.ts";
import feed from "../../src/platforms/feed/index.ts";
import webhook from "../../src/platforms/webhook/index.ts";
import { getFile } from "../../src/files/files.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { placesOf } from "../../src/files/media-places.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { callOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { fixture } from "../support/media.ts";
import { addAccount, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const Item = z.string().meta({ media: "item" });
const Frame = z.strictObject({
  source: Item.describe("What it shows."),
  poster: z.string().meta({ media: "thumbnail" }).nullable().optional(),
  url: z.string().optional(),
});

/** A schema of a platform's own, with addresses at places of its own under names of its own. */
const metadata = z.strictObject({
  title: z.string().optional(),
  url: z.string().optional(),
  logo: z.string().optional().meta({ media: "thumbnail" }).describe("Marked where it may be left out."),
  cover: z.string().meta({ media: "thumbnail" }).default("").optional(),
  frames: z.array(Frame).max(5).default([]),
  rows: z.array(z.array(Item)).optional(),
  extra: z.strictObject({ deeper: z.strictObject({ clip: Item.nullable() }).optional() }).nullish(),
  words: z.array(z.strictObject({ file: z.string().meta({ media: "subtitles" }) })).optional(),
  follow: z.array(z.strictObject({ picture: z.string().meta({ media: "thread" }).optional() })).optional(),
});

const accepted = { kind: "image" as const, mimeTypes: ["image/png"], maxItems: 4, maxBytes: null };
const limits = { ...accepted, maxSeconds: null, minAspectRatio: null, maxAspectRatio: null };
const album: AnyPlatform = definePlatform({
  ...scriptedPlatform({ publish: async () => ({ state: "prepared" }) }),
  name: "album",
  title: "Album",
  capabilities: { ...TEXT_CAPABILITIES, media: { required: false, maxItems: 4, accepts: [limits] } },
  metadata,
});

let ctx: FileContext;
let accountId: string;
beforeEach(async () => {
  ctx = await createFileContext({ platformList: [album, bluesky, feed, webhook] });
  accountId = (await addAccount(ctx, { provider: "album" })).id;
});
afterEach(() => ctx[Symbol.asyncDispose]());

async function upload(name = "photo.png"): Promise<{ id: string; url: string }> {
  const body = Readable.from([fixture(name)]);
  return (await storeUpload(callOf(ctx), { name: null, altText: null, body })).file;
}

const schedule = (given: Parameters<typeof schedulePost>[1]["metadata"], more: object = {}) =>
  schedulePost(callOf(ctx), { accountId, caption: "Hello", metadata: given, ...more });

/** Every place that the schema marks, with `url` in it: by field, the metadata that has it alone. */
const places = (url: string): [string, Record<string, any>][] => [
  ["metadata.cover", { cover: url }],
  ["metadata.logo", { logo: url }],
  ["metadata.frames[1].source", { frames: [{ source: "https://media.example/1.png" }, { source: url }] }],
  ["metadata.frames[0].poster", { frames: [{ source: "https://media.example/1.png", poster: url }] }],
  ["metadata.rows[0][1]", { rows: [["https://media.example/1.png", url]] }],
  ["metadata.extra.deeper.clip", { extra: { deeper: { clip: url } } }],
  ["metadata.words[0].file", { words: [{ file: url }] }],
  ["metadata.follow[0].picture", { follow: [{ picture: url }] }],
];
const FIELDS = places("").map(([field]) => field);
const at = (field: string, url: string): Record<string, any> =>
  places(url).find(([name]) => name === field)![1];

describe("an address that a platform's schema marks", () => {
  it.each(FIELDS)("is found, becomes the file's address, and counts as its use: %s", async (field) => {
    const file = await upload();
    const { post } = await schedule(at(field, file.id));
    expect(post.metadata).toEqual(at(field, file.url));
    const row = await readPost(ctx, post.id);
    expect(row).toMatchObject({ is_light: 0, metadata: JSON.stringify(at(field, file.url)) });
    expect((await getFile(callOf(ctx), { id: file.id })).file.usedByPosts).toBe(1);
  });

  it.each(FIELDS)("is refused where it can never be one: %s", async (field) => {
    for (const url of ["file:///etc/passwd", "http://192.168.0.1/1.png"])
      await expect(schedule(at(field, url))).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringContaining(`${field}: `),
      });
    await expect(schedule(at(field, "file_of_nobody"))).rejects.toMatchObject({
      kind: "not_found",
      message: expect.stringContaining(`${field}: there is no file`),
    });
  });

  it.each(FIELDS)("is held to the platform's limits where it is shown: %s", async (field) => {
    const sound = await upload("sound.mp3");
    const isShown = !/cover|logo|poster|words/.test(field);
    const answer = schedule(at(field, sound.id));
    if (isShown) await expect(answer).rejects.toThrow(`${field}: is of type audio, and must be image`);
    else expect((await answer).post.status).toBe("scheduled");
  });

  it("counts where it is an item of the post, and only there", async () => {
    const { url } = await upload();
    const items = { frames: [{ source: url, poster: url }], rows: [[url], [url]], cover: url };
    const others = { follow: [{ picture: url }, { picture: url }] };
    const most = { ...items, ...others, extra: { deeper: { clip: null } } };
    expect((await schedule(most, { mediaUrl: url })).post.status).toBe("scheduled");
    const tooMany = { ...most, extra: { deeper: { clip: url } } };
    await expect(schedule(tooMany, { mediaUrl: url })).rejects.toThrow("makes 5 media items");
    await expect(schedule({ rows: [[url, url, url, url, url]] })).rejects.toThrow("makes 5 media items");
  });

  it("makes no post heavy by standing empty, or where there is none", async () => {
    for (const given of [undefined, {}, { title: "T" }, { frames: [] }, { extra: null }]) {
      const { post } = await schedule(given, { allowDuplicate: true });
      expect(await readPost(ctx, post.id)).toMatchObject({ is_light: 1 });
    }
  });

  it("is any text elsewhere, whatever its key is called", async () => {
    const file = await upload();
    const { post } = await schedule({ url: file.id, title: "r2://nothing" });
    expect(post.metadata).toEqual({ url: file.id, title: "r2://nothing" });
    expect(await readPost(ctx, post.id)).toMatchObject({ is_light: 1 });
    expect((await getFile(callOf(ctx), { id: file.id })).file.usedByPosts).toBe(0);
    expect(placesOf(album, { mediaUrl: "", metadata: { url: file.id } })).toHaveLength(1);
  });
});

describe("the platforms that come with it", () => {
  const FULL: Record<string, any> = {
    moreMedia: [{ url: "https://media.example/2.png" }, { url: "https://media.example/3.png" }],
    thumbnailUrl: "https://media.example/t.png",
    thread: [{ caption: "One" }, { caption: "Two", mediaUrl: "https://media.example/4.png" }],
    subtitles: [{ url: "https://media.example/s.vtt", language: "en" }],
  };
  const found = {
    "metadata.moreMedia[0].url": "item",
    "metadata.moreMedia[1].url": "item",
    "metadata.thumbnailUrl": "thumbnail",
    "metadata.thread[1].mediaUrl": "thread",
    "metadata.subtitles[0].url": "subtitles",
  };

  it.each([bluesky, feed, webhook])("have all of their media found: $name", (platform: AnyPlatform) => {
    const shape = platform.metadata.shape;
    const known = Object.fromEntries(Object.entries(FULL).filter(([key]) => key in shape));
    expect(Object.keys(known).length).toBeGreaterThan(1);
    const wanted = Object.keys(found).filter((field) => field.split(/[.[]/)[1]! in shape);
    const all = placesOf(platform, { mediaUrl: "https://media.example/1.png", metadata: known });
    expect(all.map(({ field }) => field).toSorted()).toEqual(["mediaUrl", ...wanted].toSorted());
  });

  it("leave what the receiver of a webhook gets as it is", () => {
    const own = { fields: { url: "file_1", mediaUrl: "r2://x", media: [{ url: "file_2" }] } };
    expect(placesOf(webhook, { mediaUrl: "", metadata: own })).toHaveLength(1);
  });

  it.each([bluesky, feed, webhook])(
    "mark every key that is called an address: $name",
    (platform: AnyPlatform) => {
      const schema = z.toJSONSchema(platform.metadata, { io: "input" });
      const unmarked: string[] = [];
      let marked = 0;
      const visit = (node: unknown, name: string): void => {
        if (typeof node !== "object" || node === null) return;
        const { type, media } = node as { type?: unknown; media?: unknown };
        if (media !== undefined) marked += 1;
        if (/url$/i.test(name) && type === "string" && media === undefined) unmarked.push(name);
        for (const [key, child] of Object.entries(node)) visit(child, key);
      };
      visit(schema, "");
      expect(unmarked).toEqual([]);
      expect(marked).toBeGreaterThan(1);
    },
  );

  it("give a common key its meaning wherever it is taken", () => {
    const roles = placesOf({ metadata: z.object(commonMetadata) }, { mediaUrl: "", metadata: FULL }).slice(1);
    expect(roles.map(({ field, isShown, isItem }) => [field, isShown, isItem])).toEqual(
      Object.entries(found).map(([field, role]) => [
        field,
        ["item", "thread"].includes(role),
        role === "item",
      ]),
    );
  });
});

it("may be a file of subtitles, which is looked at when the post is scheduled", async () => {
  const { id: onBluesky } = await addAccount(ctx, { provider: "bluesky" });
  const store = async (bytes: Buffer) =>
    (await storeUpload(callOf(ctx), { name: null, altText: null, body: Readable.from([bytes]) })).file;
  const words = await store(Buffer.from("WEBVTT\n\n00:01.000 --> 00:02.000\nA horn\n"));
  expect(words).toMatchObject({ mimeType: "text/vtt", type: "other" });
  const { id: mediaUrl } = await upload("clip.mp4");
  const on = (url: string) =>
    schedulePost(callOf(ctx), {
      accountId: onBluesky,
      mediaUrl,
      metadata: { subtitles: [{ url, language: "en" }] },
    });
  const { post } = await on(words.id);
  expect(post.metadata).toEqual({ subtitles: [{ url: words.url, language: "en" }] });
  expect((await getFile(callOf(ctx), { id: words.id })).file.usedByPosts).toBe(1);
  await expect(on((await upload()).id)).rejects.toThrow(
    "metadata.subtitles[0].url: is image/png, and must be a WebVTT or an SRT file.",
  );
  const long = await store(Buffer.concat([Buffer.from("WEBVTT\n\n"), Buffer.alloc(20_000, "a")]));
  await expect(on(long.id)).rejects.toThrow("subtitles may have 20000");
});
