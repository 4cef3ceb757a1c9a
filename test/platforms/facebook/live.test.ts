import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../../src/domain/time.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost, setThumbnail } from "../../../src/posts/live-posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { queryOf } from "../../support/handles.ts";
import { callOf } from "../../support/context.ts";
import { addPost } from "../../support/publishing.ts";
import { toResponse } from "./fake-http.ts";
import { openPage, type PageWorld } from "./world.ts";

let world: PageWorld;

beforeEach(async () => {
  world = await openPage();
});

afterEach(() => world[Symbol.asyncDispose]());

async function publish(post: object) {
  return finish(world.ctx, (await addPost(world.ctx, world.account, post)).id);
}

describe("a post that is live", () => {
  it("gets another text, and a film another title", async () => {
    const { ctx, fake } = world;
    const text = await publish({ caption: "Before" });
    const film = await publish({ caption: "Before", media_url: CLIP_URL });
    await editPublishedPost(callOf(ctx), { id: text.id, caption: "After" });
    await editPublishedPost(callOf(ctx), { id: film.id, caption: "Film", metadata: { title: "Title" } });
    expect(fake.visible()).toEqual(["After", "Film"]);
    expect([...fake.films.films.values()].map(({ title }) => title)).toEqual(["Title"]);
  });

  it("gets another text though the channel may not do all that it was published with", async () => {
    const { ctx, fake, account } = world;
    const metadata = JSON.stringify({ firstComment: "Mine" });
    const { id } = await publish({ caption: "Before", metadata });
    const without = { scopes: '["pages_manage_posts"]' };
    await queryOf(ctx.store).updateTable("accounts").set(without).where("id", "=", account.id).execute();
    await editPublishedPost(callOf(ctx), { id, caption: "After" });
    expect(fake.visible()).toEqual(["After"]);
  });

  it("stays as it is where Facebook refuses, or where there is nothing to change", async () => {
    const { ctx, fake } = world;
    const { id } = await publish({ caption: "Before" });
    const asked = fake.asked.length;
    const link = editPublishedPost(callOf(ctx), { id, metadata: { link: "https://a.example" } });
    await expect(link).rejects.toMatchObject({ kind: "conflict" });
    expect(fake.asked).toHaveLength(asked);
    fake.answers = () => toResponse(400, { error: { code: 100, message: "No" } });
    const refused = editPublishedPost(callOf(ctx), { id, caption: "After" });
    await expect(refused).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/did not take/),
    });
    expect(fake.visible()).toEqual(["Before"]);
  });

  it("gets another thumbnail where it is a film", async () => {
    const { ctx, fake } = world;
    const text = await publish({ caption: "Text" });
    const film = await publish({ caption: "Film", media_url: CLIP_URL });
    const input = { id: film.id, thumbnailUrl: PHOTO_URL };
    await setThumbnail(callOf(ctx), input);
    expect([...fake.films.films.values()].map(({ thumbnail }) => thumbnail?.length)).toEqual([
      expect.any(Number),
    ]);
    const other = setThumbnail(callOf(ctx), { ...input, id: text.id });
    await expect(other).rejects.toMatchObject({ message: expect.stringMatching(/only videos/i) });
  });

  it("is counted by what Facebook still counts", async () => {
    const { ctx, fake } = world;
    const text = await publish({ caption: "Text", metadata: JSON.stringify({ firstComment: "Mine" }) });
    fake.people.deadMetrics = ["post_clicks"];
    expect(await readInsights(ctx, text)).toMatchObject({
      available: true,
      state: "live",
      visibility: "public",
      metrics: { views: 9, reach: 9, clicks: null, likes: 3, comments: 1, shares: 0, saves: null },
    });
    const film = await publish({ caption: "Film", media_url: CLIP_URL });
    expect(await readInsights(ctx, film)).toMatchObject({
      state: "live",
      metrics: { views: 9, likes: 2, comments: 0, shares: 6 },
    });
    // What it does not count any more is what the film's own fields say.
    fake.people.deadMetrics = ["fb_reels_total_plays", "post_video_social_actions"];
    expect(await readInsights(ctx, film)).toMatchObject({ metrics: { views: 12, shares: null } });
  });
});

describe("a Page", () => {
  it("is counted by day, in parts that Facebook answers, and followers as they are", async () => {
    const { ctx, account, fake } = world;
    const from = new Date(ctx.clock.now() - 150 * DAY).toISOString().slice(0, 10);
    const answer = await getAccountAnalytics(callOf(ctx), {
      accountId: account.id,
      from,
      granularity: "day",
    });
    expect(answer.totals).toMatchObject({ followers: 77, views: 151 * 5, engagements: 151 * 5 });
    expect(answer.series).toHaveLength(151);
    expect(answer.series[0]).toMatchObject({ date: from, views: 5, reach: 5 });
    expect(answer.unavailable).toContainEqual({
      metric: "reach",
      reason: expect.stringMatching(/by day/),
    });
    expect(fake.log.filter((line) => line.endsWith("/insights"))).toHaveLength(2);
  });

  it("says that its numbers may not be read, and stays connected", async () => {
    const { ctx, account, fake } = world;
    fake.answers = ({ url }) =>
      url.pathname.endsWith("/insights") ? toResponse(403, { error: { code: 200, message: "No" } }) : null;
    const from = new Date(ctx.clock.now()).toISOString().slice(0, 10);
    const answer = await getAccountAnalytics(callOf(ctx), {
      accountId: account.id,
      from,
      granularity: "total",
    });
    expect(answer.totals["followers"]).toBe(77);
    expect((await findAccountRow(ctx.store, "default", account.id))?.status).toBe("connected");
  });

  it("tells its name, and when Facebook has closed its data", async () => {
    const { ctx, account, fake } = world;
    const look = async () => {
      await inspectAccount(ctx, account);
      const row = await findAccountRow(ctx.store, "default", account.id);
      return [row?.handle, row?.status_reason];
    };
    expect(await look()).toEqual(["thehorn", null]);
    fake.people.dataAccessEndsAt = ctx.clock.now() + DAY;
    expect(await look()).toEqual(["thehorn", null]);
    fake.people.dataAccessEndsAt = ctx.clock.now() - HOUR;
    expect(await look()).toEqual(["thehorn", expect.stringMatching(/data ended on .* Reconnect the Page/)]);
    const app = { error: { code: 190, message: "Invalid app token" } };
    fake.answers = ({ url }) => (url.pathname.endsWith("/debug_token") ? toResponse(401, app) : null);
    expect(await look()).toEqual(["thehorn", null]);
    expect((await findAccountRow(ctx.store, "default", account.id))?.status).toBe("connected");
    expect(ctx.log.text()).not.toMatch(/canary/);
  });

  it("takes 30 reels in 24 hours, and any number of other posts", async () => {
    const { ctx, account } = world;
    for (let nth = 0; nth < 30; nth += 1) await publish({ caption: `Post ${nth}` });
    const input = { accountId: account.id, caption: "Next", dryRun: true };
    const reel = { ...input, mediaUrl: CLIP_URL, metadata: { kind: "reel" } };
    const warned = (await schedulePost(callOf(ctx), reel)).warnings.join(" ");
    expect(warned).toMatch(/takes 30 \(reels\)/);
    expect((await schedulePost(callOf(ctx), input)).warnings.join(" ")).not.toMatch(/reels/);
  });
});
