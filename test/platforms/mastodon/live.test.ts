import { expect, it } from "vitest";
import mastodon from "../../../src/platforms/mastodon/index.ts";
import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import { collectResults } from "../../../src/reporting/results/collect.ts";
import { queryOf } from "../../support/handles.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { PROFILES } from "./profiles.ts";
import { openMastodon, type MastodonStage } from "./stage.ts";
import { answerOf } from "../../support/described.ts";

async function publish(stage: MastodonStage, metadata: object = {}, media = ""): Promise<string> {
  const post = { caption: "First", media_url: media, metadata: JSON.stringify(metadata) };
  const { id } = await addPost(stage.ctx, stage.account, post);
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  return id;
}

it("changes text, warning and alt text, and keeps what is not changed", async () => {
  await using stage = await openMastodon(mastodon);
  const id = await publish(stage, { ...PICTURES, sensitive: true, language: "en" }, PHOTO_URL);
  const metadata = { spoilerText: "Loud", altText: "A golden horn" };
  const { post } = await editPublishedPost(callOf(stage.ctx), { id, caption: "Second", metadata });
  expect(post.caption).toBe("Second");
  const [status] = stage.fake.posts.heads();
  expect(status).toMatchObject({ text: "Second", spoilerText: "Loud", sensitive: true, language: "en" });
  expect(status?.mediaIds).toHaveLength(2);
  const [first, second] = stage.fake.posts.media.values();
  expect([first?.description, second?.description]).toEqual(["A golden horn", "The same horn"]);
  const change = { id, metadata: { visibility: "private" } };
  await expect(editPublishedPost(callOf(stage.ctx), change)).rejects.toMatchObject({ kind: "conflict" });
  expect(stage.fake.wrong).toEqual([]);
});

it("refuses edits of servers that have none", async () => {
  for (const profile of [PROFILES.old, PROFILES.pixelfed]) {
    await using stage = await openMastodon(mastodon, profile);
    const id = await publish(stage, {}, PHOTO_URL);
    const change = editPublishedPost(callOf(stage.ctx), { id, caption: "Second" });
    await expect(change).rejects.toMatchObject({ kind: "conflict" });
    expect(await stage.captions()).toEqual(["First"]);
  }
});

it("puts another picture in front of a film, and of nothing else", async () => {
  await using stage = await openMastodon(mastodon);
  const film = await publish(stage, {}, CLIP_URL);
  const thumbnailUrl = PHOTO_URL;
  await setThumbnail(callOf(stage.ctx), { id: film, thumbnailUrl }).catch((error: unknown) => {
    // Looking at the address needs a network that this test has not.
    if (!String(error).includes("media.example")) throw error;
  });
  const row = await readPost(stage.ctx, film);
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  const media = stage.ctx.media.forPost({ ownerId: row.owner_id, postId: row.id }, io.signal);
  await mastodon.setThumbnail?.(toPlatformPost(mastodon, row), thumbnailUrl, { ...io, media } as never);
  expect([...stage.fake.posts.media.values()]).toMatchObject([{ hasThumbnail: true }]);
  expect(stage.fake.posts.heads()[0]).toMatchObject({ text: "First" });
  const text = toPlatformPost(mastodon, await readPost(stage.ctx, await publish(stage)));
  await expect(mastodon.setThumbnail?.(text, thumbnailUrl, { ...io, media } as never)).rejects.toMatchObject({
    kind: "conflict",
  });
  expect(stage.fake.wrong).toEqual([]);
});

it("sends a thread in order, and removes all of it", async () => {
  await using stage = await openMastodon(mastodon);
  const { ctx, account, fake: server } = stage;
  const thread = [{ caption: "Two", mediaUrl: PHOTO_URL }, { caption: "Three" }];
  const id = await publish(stage, { thread, spoilerText: "Long", visibility: "unlisted" });
  const [one, two, three] = server.posts.all();
  expect([two?.replyTo, three?.replyTo]).toEqual([one?.id, two?.id]);
  expect([two?.visibility, three?.spoilerText, two?.mediaIds.length]).toEqual(["unlisted", "Long", 1]);
  const row = await readPost(ctx, id);
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
  await mastodon.remove?.(toPlatformPost(mastodon, row), { ...io, ...(await readStepResults(ctx, row)) });
  expect(server.posts.all()).toEqual([]);
});

it("tells what others did with a post, and with those of a range", async () => {
  await using stage = await openMastodon(mastodon);
  const id = await publish(stage);
  expect(await readInsights(stage.ctx, await readPost(stage.ctx, id))).toMatchObject({
    state: "live",
    visibility: "public",
    metrics: { likes: 3, comments: 0, shares: 3, views: null },
  });
  const range = { accountId: stage.account.id, from: "2026-11-20", to: "2026-11-22" };
  const { totals, series } = await getAccountAnalytics(callOf(stage.ctx), range as never);
  expect(totals).toMatchObject({ followers: 42, posts: 1, likes: 3, comments: 0, shares: 3 });
  expect(series).toContainEqual(
    expect.objectContaining({ date: "2026-11-21", posts: 1, likes: 3, shares: 3 }),
  );
});

/** A worker whose request to this end is answered so, from the nth on. */
function answering({ ctx }: MastodonStage, end: string, response: () => OutboundResponse, from = 0) {
  let count = 0;
  const request = async (one: OutboundRequest) =>
    one.method === "POST" && one.url.endsWith(end) && count++ >= from
      ? response()
      : ctx.outbound.request(one);
  return { ...ctx, outbound: { ...ctx.outbound, request } };
}

it("leaves a warning where a later part is refused, and never sends the first again", async () => {
  await using stage = await openMastodon(mastodon);
  const metadata = JSON.stringify({ thread: [{ caption: "Two" }, { caption: "Three" }] });
  const { id } = await addPost(stage.ctx, stage.account, { caption: "One", metadata });
  const worker = answering(stage, "/api/v1/statuses", () => answerOf(422, { error: "Validation failed" }), 1);
  const row = await finish(stage.ctx, id, worker);
  expect(row).toMatchObject({ status: "published", error: null });
  expect(row.warnings).toContain("The rest of the thread did not go through");
  expect(stage.fake.posts.all().map(({ text }) => text)).toEqual(["One"]);
});

it("says so where a server knows no way to delete, and does not change what it cannot", async () => {
  await using stage = await openMastodon(mastodon, PROFILES.snac);
  const { ctx, account } = stage;
  const id = await publish(stage, { altText: "A horn" }, PHOTO_URL);
  const row = await readPost(ctx, id);
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
  await expect(mastodon.remove?.(toPlatformPost(mastodon, row), io)).rejects.toThrow(
    /does not let apps delete/,
  );
  const change = { id, metadata: { altText: "Another horn" } };
  await expect(editPublishedPost(callOf(ctx), change)).rejects.toMatchObject({ kind: "conflict" });
});

it("is written down as figures of posts at their ages, and of the channel by day", async () => {
  await using stage = await openMastodon(mastodon);
  const id = await publish(stage);
  const { ctx } = stage;
  const collect = async () => {
    await collectResults(ctx, new AbortController().signal);
    return queryOf(ctx.store).selectFrom("results").selectAll().orderBy("at").execute();
  };
  await ctx.clock.advance(75 * MINUTE);
  const [status] = stage.fake.posts.heads();
  Object.assign(status!, { likes: 4 });
  expect((await collect()).find(({ post_id }) => post_id === id)?.h1).toMatch(/^,,,4,\d+,\d+,,$/);
  Object.assign(status!, { likes: 9 });
  await ctx.clock.advance(DAY);
  const rows = await collect();
  expect(rows.find(({ post_id }) => post_id === id)).toMatchObject({
    h1: expect.stringMatching(/^,,,4,/),
    h24: expect.stringMatching(/^,,,9,/),
  });
  // The moment of each day comes by the channel's id.
  for (let hour = 0; hour < 24; hour += 1) {
    await ctx.clock.advance(HOUR);
    await collect();
  }
  expect((await collect()).filter(({ post_id }) => post_id === "").map(({ h1 }) => h1)).toContain("42");
  expect(stage.fake.wrong).toEqual([]);
});
