import { expect, it } from "vitest";
import wordpress from "../../../src/platforms/wordpress/index.ts";
import { retryPost } from "../../../src/posts/update-post.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { shownText } from "./library.ts";
import { openWordpress, type WordpressStage } from "./stage.ts";
import { answerOf } from "../../support/described.ts";

const MINUTE = 60_000;

function add(stage: WordpressStage, post: Partial<PostRow> = {}, metadata: object = {}): Promise<PostRow> {
  return addPost(stage.ctx, stage.account, {
    ...post,
    metadata: JSON.stringify({ title: "A horn", ...metadata }),
  });
}

/** Handed over so long before its time. */
async function addAhead(stage: WordpressStage, leadMs: number, metadata: object = {}): Promise<PostRow> {
  const now = stage.ctx.clock.now();
  const times = { scheduled_at: now + leadMs, due_at: now, lead_minutes: leadMs / MINUTE };
  const { id } = await add(stage, times, metadata);
  await drain(stage.ctx);
  return readPost(stage.ctx, id);
}

/** What comes of one request is this instead. */
function answering(stage: WordpressStage, method: string, path: RegExp, make: () => OutboundResponse) {
  const { ctx } = stage;
  const request: typeof ctx.outbound.request = (one) =>
    one.method === method && path.test(one.url) ? Promise.resolve(make()) : ctx.outbound.request(one);
  return { ...ctx, outbound: { ...ctx.outbound, request } };
}

it("leaves a post that is handed over to the site, which publishes it by itself", async () => {
  await using stage = await openWordpress(wordpress);
  const held = await addAhead(stage, 10 * MINUTE, { tags: ["Horns"] });
  expect(held).toMatchObject({ status: "uploaded", error: null });
  const [post] = stage.fake.site.posts;
  expect(post).toMatchObject({ status: "future", dateMs: held.scheduled_at });
  const { length } = stage.fake.seen;
  const row = await endOf(stage, held.id);
  expect(row).toMatchObject({ status: "published", platform_post_id: String(post?.id) });
  expect(row.platform_url).toBe(`https://blog.example/${post?.slug}/`);
  expect(stage.fake.seen.slice(length).every(({ name }) => name.startsWith("GET"))).toBe(true);
});

it("publishes it itself where WP-Cron sleeps past its time, and not before", async () => {
  await using stage = await openWordpress(wordpress, { cron: "asleep" });
  const held = await addAhead(stage, 10 * MINUTE);
  await stage.ctx.clock.advance(10 * MINUTE - 1);
  await drain(stage.ctx);
  expect(await stage.published()).toBe(0);
  expect(await endOf(stage, held.id)).toMatchObject({ status: "published", error: null });
  expect(stage.ctx.clock.now() - held.scheduled_at).toBeLessThan(10_000);
  expect(stage.fake.wrong).toEqual([]);
});

it.each([
  ["its time is too near", MINUTE, 0],
  ["the site's clock is ahead", 10 * MINUTE, 2 * MINUTE],
])("keeps a draft for its time where %s", async (_why, leadMs, skewMs) => {
  await using stage = await openWordpress(wordpress, { skewMs });
  const row = await addAhead(stage, leadMs);
  expect(row.status).toBe("scheduled");
  expect(stage.fake.site.posts[0]?.status).toBe("draft");
  await stage.ctx.clock.advance(leadMs - 1);
  await drain(stage.ctx);
  expect(await stage.published()).toBe(0);
  expect(await endOf(stage, row.id)).toMatchObject({ status: "published", error: null });
});

it("publishes at the true time where the site's clock is behind", async () => {
  await using stage = await openWordpress(wordpress, { skewMs: -5 * MINUTE });
  const held = await addAhead(stage, 10 * MINUTE);
  expect(held.status).toBe("uploaded");
  expect(await endOf(stage, held.id)).toMatchObject({ status: "published", error: null });
  expect(stage.ctx.clock.now() - held.scheduled_at).toBeLessThan(10_000);
});

it("does not publish what was taken off the site before its time", async () => {
  for (const [status, why] of [
    ["trash", /was deleted on the site/],
    ["draft", /was taken back from its schedule/],
  ] as const) {
    await using stage = await openWordpress(wordpress);
    const held = await addAhead(stage, 10 * MINUTE);
    Object.assign(stage.fake.site.posts[0]!, { status });
    expect(await endOf(stage, held.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(why),
    });
    expect(await stage.published()).toBe(0);
  }
});

it("waits for a site that is down at the time of a post that lies on it", async () => {
  await using stage = await openWordpress(wordpress);
  const held = await addAhead(stage, 10 * MINUTE);
  stage.fake.state.isDown = true;
  await stage.ctx.clock.advance(11 * MINUTE);
  await drain(stage.ctx);
  expect(await readPost(stage.ctx, held.id)).toMatchObject({ status: "uploaded" });
  stage.fake.state.isDown = false;
  expect(await endOf(stage, held.id)).toMatchObject({ status: "published", error: null });
});

it("goes on with the draft of a try that failed, and its files", async () => {
  await using stage = await openWordpress(wordpress);
  const { id } = await add(stage, { media_url: PHOTO_URL }, { categories: ["99"] });
  const failed = await finish(stage.ctx, id);
  expect(failed.error).toMatch(/^metadata\.categories: the site has no category 99\./);
  stage.fake.site.categories.push({ id: 99, name: "New" });
  await retryPost(callOf(stage.ctx), { id });
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  expect(stage.fake.site.posts).toHaveLength(1);
  expect(stage.fake.site.files).toHaveLength(1);
});

it("makes blocks of media and text, which readers see as it was written", async () => {
  await using stage = await openWordpress(wordpress);
  const caption = `One "line"\nand https://a.example/?b=c&d, two\n\n\nA [gallery] -- ... don't :) 9x9 (tm) 8-)`;
  const media = {
    ...PICTURES,
    moreMedia: [...PICTURES.moreMedia, { url: CLIP_URL }],
    altText: 'A "horn" <1>',
  };
  await endOf(stage, (await add(stage, { caption, media_url: PHOTO_URL }, media)).id);
  const { content } = stage.fake.site.posts[0]!;
  expect([...content.matchAll(/<!-- wp:(\w+)/g)].map(([, name]) => name)).toEqual([
    "video",
    "gallery",
    "image",
    "image",
    "paragraph",
    "paragraph",
  ]);
  expect(content).toContain('alt="A &#34;horn&#34; &#60;1&#62;"');
  expect(content).toContain('<a href="https://a.example/?b=c&#38;d">https://a.example/?b=c&#38;d</a>, two');
  expect(shownText(content).trim().split(/\n+/)).toEqual(caption.split(/\n+/));
  expect(stage.fake.site.files.map(({ alt }) => alt)).toEqual(['A "horn" <1>', "The same horn", ""]);
});

it("takes HTML as it is, and what else an article has", async () => {
  await using stage = await openWordpress(wordpress);
  const caption = "<h2>Loud</h2>\n<p>A <em>horn</em></p>";
  const said = { title: "1 < 2 & 3", html: true, excerpt: "Short", tags: ["Old & gold", "New"] };
  const more = { slug: "loud", comments: false, categories: ["4"], thumbnailUrl: PHOTO_URL };
  await endOf(stage, (await add(stage, { caption }, { ...said, ...more })).id);
  const [file] = stage.fake.site.files;
  expect(stage.fake.site.posts[0]).toMatchObject({
    ...{ title: "1 &#60; 2 &#38; 3", content: caption, excerpt: "Short", slug: "loud" },
    ...{ comment_status: "closed", categories: [4], featured_media: file?.id },
  });
  expect(stage.fake.site.posts[0]?.tags[0]).toBe(7);
  expect(stage.fake.wrong).toEqual([]);
});

it("finds its draft again whatever the title is written in", async () => {
  await using stage = await openWordpress(wordpress);
  for (const title of ["日本語", "Ünïcode — & more!", "x".repeat(300)]) {
    const { id } = await add(stage, {}, { title });
    await endOf(stage, id);
    expect(stage.fake.site.posts.at(-1)?.slug).toMatch(new RegExp(`^[a-z0-9-]{4,61}-${id.slice(-8)}$`));
  }
});

it("does not take the web server's own page for news of a post", async () => {
  await using stage = await openWordpress(wordpress);
  const held = await addAhead(stage, 10 * MINUTE);
  await stage.ctx.clock.advance(10 * MINUTE);
  await drain(answering(stage, "GET", /\/posts/, () => answerOf(404, "<title>Page not found</title>")));
  expect(await readPost(stage.ctx, held.id)).toMatchObject({ status: "uploaded" });
  const row = await findAccountRow(stage.ctx.store, stage.account.owner_id, stage.account.id);
  expect(row?.status_reason).toMatch(/REST API is switched off, or has moved/);
});

it("says that a plugin keeps the post for approval", async () => {
  await using stage = await openWordpress(wordpress);
  const { site } = stage.fake;
  const write = site.write;
  site.write = (post, request) => Object.assign(write(post, request), { status: "pending" });
  const { id } = await add(stage);
  expect((await finish(stage.ctx, id)).error).toMatch(/keeps the post as "pending"/);
});
