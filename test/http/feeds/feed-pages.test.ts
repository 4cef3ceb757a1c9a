import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SaxesParser, type SaxesTagPlain } from "saxes";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { FeedItem } from "../../../src/ports/feed-storage.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { createFeedStorage } from "../../../src/store/queries/feeds.ts";
import { send, type Answer } from "../../support/http.ts";
import { drain } from "../../support/publishing.ts";
import { startService, type Service } from "../../support/service.ts";
import { queryOf } from "../../support/handles.ts";

const MP3 = readFileSync(new URL("../../fixtures/sound.mp3", import.meta.url));
const JPEG = readFileSync(new URL("../../fixtures/photo.jpg", import.meta.url));
const MP4 = readFileSync(new URL("../../fixtures/clip.mp4", import.meta.url));

let service: Service;
let feed: string;
/** Of our own pages, as others reach them. */
let base: string;

beforeEach(async () => {
  service = await startService();
  feed = await service.addFeed();
  base = `${await service.ctx.publicUrl()}/feed`;
});

afterEach(() => service[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(service.port, `GET /feed/${path}`, { headers });

/** Schedules a post for now and publishes it; answers it as it is then. */
async function publish(post: object): Promise<any> {
  const scheduled = await service.call("schedule_post", { accountId: feed, ...post });
  await drain(service.ctx);
  return (await service.call("get_post", { id: scheduled.post.id })).post;
}

async function upload(name: string, type: string, body: Uint8Array): Promise<string> {
  const answer = await service.ask(`POST /api/v1/files?name=${name}`, {
    body,
    headers: { "Content-Type": type },
  });
  expect(answer.status).toBe(201);
  return answer.json.file.id;
}

/** An entry as it stands in the table, past every check of the way there. */
async function put(overrides: Partial<FeedItem>): Promise<void> {
  await service.ctx.feed.put({
    accountId: feed,
    id: "post_1",
    title: null,
    text: "Hello",
    link: null,
    tags: [],
    language: null,
    media: [],
    thumbnail: null,
    publishedAt: service.clock.now(),
    isPublic: true,
    ...overrides,
  });
}

/** https://www.jsonfeed.org/version/1.1/, no key beside those it knows. */
const JsonFeed = z.strictObject({
  version: z.literal("https://jsonfeed.org/version/1.1"),
  title: z.string(),
  home_page_url: z.url(),
  feed_url: z.url(),
  next_url: z.url().optional(),
  items: z.array(
    z.strictObject({
      id: z.string(),
      url: z.url(),
      external_url: z.url().optional(),
      title: z.string().optional(),
      content_html: z.string(),
      content_text: z.string(),
      image: z.url().optional(),
      date_published: z.iso.datetime(),
      tags: z.array(z.string()).min(1).optional(),
      language: z.string().optional(),
      attachments: z
        .array(
          z.strictObject({
            url: z.url(),
            mime_type: z.string(),
            title: z.string().optional(),
            size_in_bytes: z.int(),
            duration_in_seconds: z.number().optional(),
          }),
        )
        .min(1)
        .optional(),
    }),
  ),
});

interface Element {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: Element[];
  text: string;
}

/** A strict parser's view; it throws for whatever is not well-formed. */
function parseXml(text: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", (tag: SaxesTagPlain) => {
    const element = { name: tag.name, attributes: tag.attributes, children: [], text: "" };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on("text", (part) => void (open.at(-1)!.text += part));
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  return root.children[0]!;
}

const all = (element: Element, name: string): Element[] =>
  element.children.filter((child) => child.name === name);
const one = (element: Element, name: string): Element => all(element, name)[0]!;

describe("a published post", () => {
  it("is in JSON Feed, RSS and on the page, with everything it has", async () => {
    const [photo, clip, sound] = [
      await upload("photo.jpg", "image/jpeg", JPEG),
      await upload("clip.mp4", "video/mp4", MP4),
      await upload("sound.mp3", "audio/mpeg", MP3),
    ];
    const post = await publish({
      caption: "First line\nsecond line\n\nSee https://example.com/a_(b)?c=1&d=2.",
      mediaUrl: photo,
      metadata: {
        title: "Grüße & more",
        description: "The long story.",
        tags: ["travel", "日本"],
        link: "https://example.com/story",
        altText: 'A horn "of" brass',
        moreMedia: [{ url: clip, altText: "A ride" }, { url: sound }],
        language: "de",
        thumbnailUrl: photo,
      },
    });
    expect(post).toMatchObject({ status: "published", platformUrl: `${base}/${feed}/${post.id}.html` });

    const json = await get(`${feed}.json`);
    expect(json).toMatchObject({
      status: 200,
      headers: { "content-type": "application/feed+json; charset=utf-8", "access-control-allow-origin": "*" },
    });
    const { items } = JsonFeed.parse(json.json);
    const media = `${base}/${feed}/media/${post.id}`;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      id: post.id,
      url: post.platformUrl,
      external_url: "https://example.com/story",
      title: "Grüße & more",
      content_text: "First line\nsecond line\n\nSee https://example.com/a_(b)?c=1&d=2.\n\nThe long story.",
      image: `${media}/thumbnail`,
      date_published: "2026-11-21T09:00:00.000Z",
      tags: ["travel", "日本"],
      language: "de",
    });
    expect(items[0]!.attachments).toEqual([
      {
        url: `${media}/0`,
        mime_type: "image/jpeg",
        title: 'A horn "of" brass',
        size_in_bytes: expect.any(Number),
      },
      {
        url: `${media}/1`,
        mime_type: "video/mp4",
        title: "A ride",
        size_in_bytes: MP4.length,
        duration_in_seconds: expect.any(Number),
      },
      {
        url: `${media}/2`,
        mime_type: "audio/mpeg",
        size_in_bytes: MP3.length,
        duration_in_seconds: expect.any(Number),
      },
    ]);
    expect(items[0]!.content_html).toContain(
      '<a href="https://example.com/a_(b)?c=1&amp;d=2">https://example.com/a_(b)?c=1&amp;d=2</a>.',
    );
    expect(items[0]!.content_html).toContain('alt="A horn &quot;of&quot; brass"');

    const rss = await get(`${feed}.rss`);
    expect(rss).toMatchObject({
      status: 200,
      headers: { "content-type": "application/rss+xml; charset=utf-8" },
    });
    const channel = one(parseXml(rss.text), "channel");
    const item = one(channel, "item");
    expect(one(channel, "atom:link").attributes).toEqual({
      rel: "self",
      type: "application/rss+xml",
      href: `${base}/${feed}.rss`,
    });
    expect(one(item, "title").text).toBe("Grüße & more");
    expect(one(item, "guid")).toMatchObject({ text: post.id, attributes: { isPermaLink: "false" } });
    expect(one(item, "pubDate").text).toBe("Sat, 21 Nov 2026 09:00:00 GMT");
    expect(one(item, "description").text).toBe(items[0]!.content_html);
    expect(all(item, "category").map(({ text }) => text)).toEqual(["travel", "日本"]);
    expect(all(item, "enclosure").map(({ attributes }) => attributes["type"])).toEqual(["image/jpeg"]);
    expect(all(item, "media:content").map(({ attributes }) => attributes["medium"])).toEqual([
      "image",
      "video",
      "audio",
    ]);
    expect(one(one(item, "media:content"), "media:description").text).toBe('A horn "of" brass');

    const page = await get(`${feed}.html`);
    expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } });
    for (const part of [
      "Grüße &amp; more",
      `src="${feed}/media/${post.id}/0"`,
      "<video",
      "<audio",
      "#travel",
      'lang="de"',
      "21 November 2026",
    ]) {
      expect(page.text).toContain(part);
    }
    const own = await get(`${feed}/${post.id}.html`);
    expect(own.text).toContain(`src="media/${post.id}/0"`);
    expect(own.text).toContain("<title>Grüße &amp; more – Feed of default</title>");
  });

  it("is there from its time on and not a moment before, its media neither", async () => {
    const photo = await upload("photo.jpg", "image/jpeg", JPEG);
    const { post } = await service.call("schedule_post", {
      accountId: feed,
      caption: "Soon",
      mediaUrl: photo,
      scheduledAt: "2026-11-21T10:00:00Z",
      leadMinutes: 60,
    });
    await drain(service.ctx);
    expect((await service.call("get_post", { id: post.id })).post.status).toBe("uploaded");
    expect(JSON.stringify((await get(`${feed}.json`)).json.items)).toBe("[]");
    expect((await get(`${feed}.html`)).text).toContain("Nothing has been published here yet.");
    expect((await get(`${feed}/${post.id}.html`)).status).toBe(404);
    expect((await get(`${feed}/media/${post.id}/0`)).status).toBe(404);
    await service.clock.advance(60 * 60_000);
    await drain(service.ctx);
    expect((await get(`${feed}/${post.id}.html`)).text).toContain("Soon");
    expect((await get(`${feed}/media/${post.id}/0`)).status).toBe(200);
  });

  it("changes when it is edited, and gets a thumbnail", async () => {
    const post = await publish({ caption: "Befor", metadata: { tags: ["a"] } });
    await service.call("edit_published_post", {
      id: post.id,
      caption: "After",
      metadata: { title: "New", tags: null },
    });
    const photo = await upload("photo.jpg", "image/jpeg", JPEG);
    await service.call("set_thumbnail", { id: post.id, thumbnailUrl: photo });
    const [item] = JsonFeed.parse((await get(`${feed}.json`)).json).items;
    expect(item).toMatchObject({
      title: "New",
      content_text: "After",
      image: expect.stringMatching(/\/thumbnail$/),
    });
    expect(item?.tags).toBeUndefined();
    expect((await get(`${feed}/media/${post.id}/thumbnail`)).headers["content-type"]).toBe("image/jpeg");
  });
});

describe("media", () => {
  let path: string;

  beforeEach(async () => {
    const sound = await upload("sound.mp3", "audio/mpeg", MP3);
    const post = await publish({ mediaUrl: sound, caption: null });
    path = `${feed}/media/${post.id}/0`;
  });

  const bytes = async (
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; body: Buffer }> => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/feed/${path}`, { headers });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  };

  it("comes whole, as what it is, and can be shown on other sites", async () => {
    const { status, headers, body } = await bytes();
    expect(status).toBe(200);
    expect(body.equals(MP3)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "audio/mpeg",
      "content-length": String(MP3.length),
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "public, max-age=300",
      etag: `"${createHash("sha256").update(MP3).digest("hex")}"`,
    });
    expect(headers.get("content-security-policy")).toMatch(/^sandbox;/);
  });

  it.each([
    ["bytes=0-9", 0, 9],
    ["bytes=10-", 10, MP3.length - 1],
    ["bytes=-5", MP3.length - 5, MP3.length - 1],
    ["bytes=0-99999999", 0, MP3.length - 1],
  ])("comes in parts: %s", async (range, start, end) => {
    const { status, headers, body } = await bytes({ range });
    expect(status).toBe(206);
    expect(headers.get("content-range")).toBe(`bytes ${start}-${end}/${MP3.length}`);
    expect(body.equals(MP3.subarray(start, end + 1))).toBe(true);
  });

  it.each([["bytes=0-1,5-6"], ["items=0-1"], ["bytes=x-y"]])("comes whole for %s", async (range) => {
    expect(await bytes({ range })).toMatchObject({ status: 200, body: { length: MP3.length } });
  });

  it("knows what is past its end, what has not changed, and what has", async () => {
    expect(await bytes({ range: `bytes=${MP3.length}-` })).toMatchObject({
      status: 416,
      body: { length: 0 },
    });
    const etag = (await bytes()).headers.get("etag") ?? "";
    expect((await get(path, { "If-None-Match": etag })).status).toBe(304);
    expect((await bytes({ range: "bytes=0-1", "if-range": etag })).status).toBe(206);
    expect((await bytes({ range: "bytes=0-1", "if-range": '"other"' })).status).toBe(200);
    const head = await fetch(`http://127.0.0.1:${service.port}/feed/${path}`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(MP3.length)]);
  });
});

describe("what is not there", () => {
  it.each([
    ["nothing.json"],
    ["acc_unknown.rss"],
    ["acc_unknown.html"],
    ["FEED.txt"],
    ["FEED"],
    ["FEED.json?before=abc"],
    ["FEED/post_none.html"],
    ["FEED/media/post_none/0"],
    ["FEED/media/post_1/1"],
    ["FEED/media/post_1/thumbnail"],
    ["FEED/media/post_1/-1"],
    ["FEED/media/post_1/__proto__"],
    ["FEED/media/..%2f..%2fsecret.key/0"],
    ["FEED/media/%E0%A4%A/0"],
    ["FEED.constructor"],
    ["%2e%2e/secret.key"],
    [""],
  ])("is 404: %s", async (path) => {
    await put({});
    const answer = await get(path.replace("FEED", feed));
    expect(answer.status).toBe(404);
    const isPage = path.endsWith(".html");
    expect(answer.headers["content-type"]).toBe(
      isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    );
  });

  it("takes no other method and no other parameter", async () => {
    expect(await send(service.port, `POST /feed/${feed}.json`)).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
    });
    expect(await get(`${feed}.json?page=2`)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('"page"') },
    });
  });

  it("shows no account of another platform", async () => {
    await queryOf(service.ctx.store).updateTable("accounts").set({ provider: "webhook" }).execute();
    expect((await get(`${feed}.json`)).status).toBe(404);
  });
});

describe("texts of strangers", () => {
  /** What no XML may hold. */
  const FORBIDDEN = "\u0000\u0008\uFFFE\uD800";
  const EVIL = `"><script>alert(1)</script><img src=x onerror=alert(2)>]]><!--&amp;' ${FORBIDDEN} javascript:alert(3)`;

  it("stay text in every form", async () => {
    await put({
      title: EVIL,
      text: EVIL,
      tags: [EVIL],
      language: '"><b>',
      link: "javascript:alert(4)",
      media: [],
      thumbnail: null,
    });
    await queryOf(service.ctx.store)
      .updateTable("accounts")
      .set({ name: EVIL })
      .where("id", "=", feed)
      .execute();
    for (const path of [`${feed}.html`, `${feed}/post_1.html`]) {
      const { text, headers, status } = await get(path);
      expect(status).toBe(200);
      expect(text).not.toMatch(/<script|<img|<b>|href="javascript/i);
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(headers["content-security-policy"]).not.toContain("script-src");
    }
    const channel = one(parseXml((await get(`${feed}.rss`)).text), "channel");
    const item = one(channel, "item");
    const clean = EVIL.replace(FORBIDDEN, "\uFFFD".repeat(4));
    expect(one(item, "title").text).toBe(clean);
    // The database has made the half pair in a name into replacement characters already.
    expect(one(channel, "title").text.replace(/\uFFFD+/, "\uFFFD")).toBe(clean.replace(/\uFFFD+/, "\uFFFD"));
    expect(one(item, "category").text).toBe(clean);
    expect(one(item, "description").text).not.toMatch(/<script|<img/);
    const [entry] = JsonFeed.parse((await get(`${feed}.json`)).json).items;
    expect(entry?.external_url).toBeUndefined();
    expect(entry?.content_html).not.toMatch(/<script|<img|href/);
  });

  it.each([
    ["see http://a.example/x, or (https://b.example/y).", ["http://a.example/x", "https://b.example/y"]],
    ["https://en.example/wiki/Horn_(brass)", ["https://en.example/wiki/Horn_(brass)"]],
    ['<a href="https://c.example">', ["https://c.example"]],
    ["https://. http://[ ftp://d.example", []],
  ])("link their addresses alone: %s", async (text, addresses) => {
    await put({ text });
    const [entry] = JsonFeed.parse((await get(`${feed}.json`)).json).items;
    expect([...entry!.content_html.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)).toEqual(
      addresses,
    );
  });

  it("are handled in a moment, however they are made", async () => {
    await put({
      text: `https://a.example/${")".repeat(5_000)}\n${"\n \t".repeat(3_000)}${"https://".repeat(1_000)}`,
    });
    expect((await get(`${feed}.html`)).status).toBe(200);
  });
});

describe("many entries", () => {
  it("come in pages of 50 that neither repeat nor leave out one, those of one moment too", async () => {
    const ids = Array.from({ length: 120 }, (_, at) => `post_${String(at).padStart(3, "0")}`);
    const start = service.clock.now();
    for (const [at, id] of ids.entries()) await put({ id, publishedAt: start + Math.floor(at / 40) });
    const seen: string[] = [];
    let path: string | undefined = `${feed}.json`;
    while (path !== undefined) {
      const page = JsonFeed.parse((await get(path)).json);
      expect(page.items.length).toBeLessThanOrEqual(50);
      seen.push(...page.items.map(({ id }) => id));
      path = page.next_url?.slice(base.length + 1);
    }
    expect(seen).toEqual(ids.toReversed());
    const first = await get(`${feed}.html`);
    const older = /href="([^"]*\?before=[^"]*)"/.exec(first.text)?.[1] ?? "";
    expect((await get(older)).text).toContain("Newest");
    expect(
      one(parseXml((await get(`${feed}.rss`)).text), "channel").children.filter(
        ({ attributes }) => attributes["rel"] === "next",
      ),
    ).toHaveLength(1);
  });
});

it("lets readers keep what has not changed", async () => {
  await put({});
  const { headers } = await get(`${feed}.rss`);
  expect(headers["cache-control"]).toBe("public, max-age=60");
  expect((await get(`${feed}.rss`, { "If-None-Match": headers["etag"] ?? "" })).status).toBe(304);
});

it("shows at once what another process has written, and goes on with what it has", async () => {
  await put({ text: "Before" });
  const page = (): Promise<string> => get(`${feed}.html`).then(({ text }) => text);
  expect(await page()).toContain("Before");
  const file = join(service.folder, "posthorn.db");
  const other = await openStore({ file });
  const shelf = createFeedStorage(other, service.ctx.files);
  await shelf.change(feed, "post_1", (item) => ({ ...item, text: "After" }));
  expect(await page()).toContain("After");
  expect(await page()).toContain("After");
  await shelf.remove(feed, "post_1");
  expect(await page()).not.toContain("After");
  await other[Symbol.asyncDispose]();
});
