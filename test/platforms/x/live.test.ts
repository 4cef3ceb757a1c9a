import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import x from "../../../src/platforms/x/index.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { callOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { problem } from "./problems.ts";
import { createWorld } from "./world.ts";

describe("a post that is live on X", () => {
  it("has numbers, clicks as long as X tells them", async () => {
    await using world = await createWorld();
    const { ctx } = world;
    const { id } = await addPost(ctx, await world.connect(), { media_url: CLIP_URL });
    const row = await finish(ctx, id);
    const numbers = {
      views: 90,
      impressions: 100,
      likes: 5,
      comments: 2,
      shares: 4,
      saves: 7,
      reach: null,
    };
    expect(await readInsights(ctx, row)).toMatchObject({
      state: "live",
      visibility: "public",
      metrics: { ...numbers, clicks: 4 },
    });
    await ctx.clock.advance(31 * DAY);
    expect(await readInsights(ctx, row)).toMatchObject({ metrics: { ...numbers, clicks: null } });
  });

  it("is not taken for gone where X only does not answer", async () => {
    await using world = await createWorld();
    const row = await finish(world.ctx, (await addPost(world.ctx, await world.connect())).id);
    const busy = problem(503, "Service Unavailable", "Over capacity");
    world.fake.refusals.set("GET /2/tweets/{id}", busy);
    expect(await readInsights(world.ctx, row)).toMatchObject({ available: false, state: "unknown" });
  });

  it("is removed with its whole thread", async () => {
    await using world = await createWorld();
    const { ctx, fake } = world;
    const account = await world.connect();
    const metadata = JSON.stringify({ thread: [{ caption: "Two" }, { caption: "Three" }] });
    const row = await finish(ctx, (await addPost(ctx, account, { metadata })).id);
    expect(fake.posts.all).toHaveLength(3);
    const io = await createPlatformIo(ctx, account, AbortSignal.timeout(20_000));
    const results = await readStepResults(ctx, row);
    await x.remove?.(toPlatformPost(x, row), { ...io, ...results });
    expect(fake.posts.all).toEqual([]);
  });
});

describe("the account", () => {
  it("has followers, and says what else X does not tell", async () => {
    await using world = await createWorld();
    const { id: accountId } = await world.connect();
    const range = { accountId, from: "2026-11-20", to: "2026-11-21", granularity: "total" as const };
    const { totals, unavailable } = await getAccountAnalytics(callOf(world.ctx), range);
    expect(totals).toMatchObject({ followers: 12, following: 3 });
    const likes = unavailable.find(({ metric }) => metric === "likes");
    expect(world.ctx.inWords(likes?.reason ?? "")).toContain("get_post");
  });

  it("is what X says it is now", async () => {
    await using world = await createWorld();
    const before = await world.connect();
    world.fake.user = { username: "trumpet", name: "The Trumpet", subscription_type: "PremiumPlus" };
    await inspectAccount(world.ctx, before);
    const [now] = await queryOf(world.ctx.store).selectFrom("accounts").selectAll().execute();
    expect(now).toMatchObject({ name: "The Trumpet", handle: "trumpet" });
    expect(JSON.parse(now?.limits ?? "")).toMatchObject({ isPremium: true });
  });
});
