import { expect, it } from "vitest";
import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { drain, readPost } from "../../support/publishing.ts";
import { refusal } from "./requests.ts";
import { openGhost, type GhostStage } from "./stage.ts";

const MINUTE = 60_000;

/** Scheduled that far ahead, and brought there now. */
async function hold(stage: GhostStage, minutes: number, metadata = {}): Promise<string> {
  const now = stage.ctx.clock.now();
  const times = { scheduled_at: now + minutes * MINUTE, due_at: now, lead_minutes: minutes };
  const { id } = await stage.add("A horn", metadata, times);
  await drain(stage.ctx);
  return id;
}

it("lets Ghost publish by itself what lies there ahead", async () => {
  await using stage = await openGhost();
  const id = await hold(stage, 30, {
    tags: ["Brass"],
    description: "Short",
    audience: "members",
    featured: true,
  });
  expect(await readPost(stage.ctx, id)).toMatchObject({ status: "uploaded" });
  expect(stage.fake.posts.all()).toMatchObject([
    {
      title: "Horn",
      status: "scheduled",
      slug: "horn",
      custom_excerpt: "Short",
      visibility: "members",
      featured: true,
      tags: [{ name: "Brass" }],
    },
  ]);
  await stage.ctx.clock.advance(30 * MINUTE);
  expect(await endOf(stage, id)).toMatchObject({
    status: "published",
    platform_url: "https://blog.example/horns/horn/",
  });
  // Nothing was changed any more.
  expect(stage.fake.calls.filter(({ name }) => name.startsWith("PUT"))).toHaveLength(1);
});

it("publishes at its time where Ghost's schedule does not run, once", async () => {
  await using stage = await openGhost();
  stage.fake.posts.state.isScheduleBroken = true;
  const id = await hold(stage, 30);
  await stage.ctx.clock.advance(30 * MINUTE);
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  expect(await stage.published()).toBe(1);
});

it("leaves a draft where its time is too near for Ghost's schedule", async () => {
  await using stage = await openGhost();
  const id = await hold(stage, 2);
  expect(stage.fake.posts.all()).toMatchObject([{ status: "draft" }]);
  expect(await readPost(stage.ctx, id)).toMatchObject({ status: "scheduled", attempts: 1 });
  expect(await endOf(stage, id)).toMatchObject({ status: "published" });
  expect(stage.fake.posts.shown()).toMatchObject([{ slug: "horn" }]);
});

it("says what became of a post that somebody took away or back on the site", async () => {
  for (const [change, expected] of [
    [{ status: "draft" }, /made a draft again/],
    [null, /deleted there/],
  ] as const) {
    await using stage = await openGhost();
    const id = await hold(stage, 30);
    const [post] = stage.fake.posts.all();
    if (change === null) stage.fake.posts.delete(post?.id ?? "");
    else Object.assign(post ?? {}, change);
    await stage.ctx.clock.advance(30 * MINUTE);
    expect(await endOf(stage, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(expected),
    });
    expect(await stage.published()).toBe(0);
  }
});

it("mails a post to a newsletter where that is asked for alone, and once", async () => {
  for (const isAhead of [true, false]) {
    await using stage = await openGhost();
    const id = isAhead
      ? await hold(stage, 30, { newsletter: "weekly" })
      : (await stage.add("A horn", { newsletter: "weekly" })).id;
    if (isAhead) expect(stage.fake.posts.mails).toEqual([]);
    await stage.ctx.clock.advance(30 * MINUTE);
    expect(await endOf(stage, id)).toMatchObject({ status: "published" });
    expect(stage.fake.posts.mails).toMatchObject([{ newsletter: "weekly" }]);
  }
  await using stage = await openGhost();
  const { id } = await stage.add("A horn", { newsletter: "no-such" });
  expect(await endOf(stage, id)).toMatchObject({ error: expect.stringMatching(/^metadata\.newsletter: /) });
  const post = { accountId: stage.account.id, caption: "A horn", dryRun: true };
  const { warnings } = await schedulePost(callOf(stage.ctx), {
    ...post,
    metadata: { title: "T", newsletter: "weekly" },
  });
  expect(warnings).toContainEqual(expect.stringMatching(/^metadata\.newsletter: /));
});

it("writes text as it stands, Markdown and HTML as they are, and shows media before it", async () => {
  await using stage = await openGhost();
  const write = async (caption: string, metadata: object, media = ""): Promise<any[]> => {
    const { id } = await stage.add(caption, metadata as never, { media_url: media });
    const row = await endOf(stage, id);
    expect(row).toMatchObject({ status: "published", error: null });
    const post = stage.fake.posts.shown().find((one) => one.id === row.platform_post_id);
    return JSON.parse(post?.lexical ?? "").root.children;
  };
  expect(await write("See https://a.example/x.\nMore", {})).toMatchObject([
    {
      type: "paragraph",
      children: [
        { text: "See " },
        { type: "link", url: "https://a.example/x", children: [{ text: "https://a.example/x" }] },
        { text: "." },
        { type: "linebreak" },
        { text: "More" },
      ],
    },
  ]);
  expect(await write("# One", { format: "markdown" })).toMatchObject([
    { type: "markdown", markdown: "# One" },
  ]);
  expect(await write("<b>", { format: "html" }, PHOTO_URL)).toMatchObject([
    { type: "image", src: expect.stringMatching(/\.jpg$/), alt: "", width: 64 },
    { type: "html", html: "<b>" },
  ]);
  const eleven = {
    altText: "A",
    moreMedia: Array.from({ length: 10 }, () => ({ url: PHOTO_URL, altText: "B" })),
  };
  expect(await write("", eleven, PHOTO_URL)).toMatchObject([
    { type: "gallery", images: { length: 9, 0: { alt: "A", row: 0 }, 8: { alt: "B", row: 2 } } },
    { type: "gallery", images: { length: 2 } },
  ]);
  const mixed = { altText: "<i>", moreMedia: [{ url: PHOTO_URL }] };
  expect(await write("", mixed, CLIP_URL)).toMatchObject([
    { type: "video", src: expect.stringMatching(/\.mp4$/), caption: "&#60;i&#62;" },
    { type: "image" },
  ]);
});

it("gives two posts of one title addresses of their own", async () => {
  await using stage = await openGhost();
  for (const _time of [1, 2]) await endOf(stage, (await stage.add("A horn")).id);
  expect(stage.fake.posts.shown().map(({ slug }) => slug)).toEqual(["horn", "horn-2"]);
});

/** A worker to whom requests that end so are refused. */
function refusing({ ctx }: GhostStage, ends: string, response: () => OutboundResponse) {
  const request = async (one: OutboundRequest) =>
    one.method !== "GET" && (one.url.split("?")[0] ?? "").endsWith(ends)
      ? response()
      : ctx.outbound.request(one);
  return { ...ctx, outbound: { ...ctx.outbound, request } };
}

it("tells a wrong clock from a wrong key, and a site that has moved", async () => {
  const moved = (): OutboundResponse => ({
    ...refusal(301, "", ""),
    headers: { location: "https://new.example/" },
  });
  const late = () => refusal(401, "UnauthorizedError", "Invalid token: jwt expired", { code: "INVALID_JWT" });
  for (const [response, status, expected] of [
    [late, "connected", /clock/],
    [moved, "reconnect_required", null],
  ] as const) {
    await using stage = await openGhost();
    const { ctx, account } = stage;
    const { id } = await stage.add("A horn");
    await drain(refusing(stage, "/posts/", response));
    expect((await findAccountRow(ctx.store, "default", account.id))?.status).toBe(status);
    const { error } = await readPost(ctx, id);
    if (expected !== null) expect(error).toMatch(expected);
  }
});
