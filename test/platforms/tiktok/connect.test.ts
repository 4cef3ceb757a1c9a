import tiktok from "../../../src/platforms/tiktok/index.ts";
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../../src/domain/time.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { listPlatforms } from "../../../src/channels/platform-io/list-platforms.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { connected, createTikTokWorld, type TikTokWorld } from "./world.ts";
import { disconnectChannel } from "../../../src/channels/connecting/connections.ts";

const show = async ({ ctx }: TikTokWorld) => (await listAccounts(callOf(ctx))).accounts[0];

describe("connecting", () => {
  it("asks with client_key and commas, and connects the account of whoever agreed", async () => {
    await using world = await createTikTokWorld({ hasDisplayApi: true });
    const { url } = await world.connect();
    expect(new URL(url).searchParams.get("scope")).toBe(
      "user.info.basic,user.info.profile,user.info.stats,video.publish,video.upload,video.list",
    );
    expect(await show(world)).toMatchObject({
      platformAccountId: "open-1",
      name: "Horn Tooter",
      handle: "horn.tooter",
      profileUrl: "https://www.tiktok.com/@horn.tooter",
      status: "connected",
    });
    expect(world.fake.wrong).toEqual([]);
    expect(world.ctx.log.text()).not.toContain("canary");
  });

  it("asks an app without the Display API for no scope of it, and learns the user name all the same", async () => {
    await using world = await createTikTokWorld();
    const { url } = await world.connect();
    expect(new URL(url).searchParams.get("scope")).toBe("user.info.basic,video.publish,video.upload");
    const account = await queryOf(world.ctx.store)
      .selectFrom("accounts")
      .selectAll()
      .executeTakeFirstOrThrow();
    await inspectAccount(world.ctx, account);
    const shown = await show(world);
    expect(shown).toMatchObject({ name: "Horn Tooter", handle: "horn.tooter", status: "connected" });
    expect(shown?.capabilities.analytics).toEqual({ account: [], post: [] });
    expect(world.fake.wrong).toEqual([]);
  });

  it.each(["http://localhost:4747", "http://127.0.0.1:4747"])("comes back home to %s", async (home) => {
    await using world = await createTikTokWorld({ overrides: { publicUrl: async () => home } });
    const { url, rows } = await world.connect();
    expect(new URL(url).searchParams.get("redirect_uri")).toBe(`${home}/connect/callback`);
    expect(rows).toMatchObject([{ status: "connected" }]);
    expect(world.fake.wrong).toEqual([]);
  });

  it("is told what to register instead of an address that TikTok takes from no one", async () => {
    await using world = await createTikTokWorld({
      overrides: {
        publicUrl: async () => "http://nas.lan:4747",
        publicMedia: { canBeFetched: async () => true } as never,
      },
    });
    const { platforms } = await listPlatforms(callOf(world.ctx), { provider: ["tiktok"] });
    expect(platforms[0]?.setup?.needs[0]).toContain(
      "TikTok sends people back only to https addresses, or to http://localhost with a port. Either",
    );
  });

  it("leaves no account where the app lacks a scope that the settings name", async () => {
    await using world = await createTikTokWorld({
      settings: { POSTHORN_TIKTOK_SCOPES: "user.info.basic video.publish video.list" },
    });
    expect(await world.connect()).toMatchObject({ rows: [], error: expect.any(String) });
  });

  it("asks for no field whose permission is not there, and for what the settings say", async () => {
    const settings = { POSTHORN_TIKTOK_SCOPES: "user.info.basic video.upload" };
    await using world = await createTikTokWorld({ settings });
    const { url } = await world.connect();
    expect(new URL(url).searchParams.get("scope")).toBe("user.info.basic,video.upload");
    expect(await show(world)).toMatchObject({ name: "Horn Tooter", handle: null, profileUrl: null });
    expect(world.fake.wrong).toEqual([]);
  });

  it("leaves no account where the permission to post was unticked", async () => {
    await using world = await createTikTokWorld();
    const { error, rows } = await world.connect(["user.info.basic"]);
    expect([rows, error]).toEqual([[], expect.stringContaining("video.publish")]);
  });

  it("renews a token of 24 hours with the newest of its refresh tokens, and gives it back at the end", async () => {
    await using world = await createTikTokWorld();
    const { ctx, fake } = world;
    const account = await connected(world);
    for (let day = 0; day < 3; day += 1) {
      await ctx.clock.advance(25 * HOUR);
      const row = await findAccountRow(ctx.store, account.owner_id, account.id);
      const io = await createPlatformIo(ctx, row!, AbortSignal.timeout(5_000));
      expect(await tiktok.inspect?.(io)).toMatchObject({ problem: null });
    }
    expect(fake.tokens.refreshes).toBe(3);
    expect(await show(world)).toMatchObject({ status: "connected" });
    await disconnectChannel(callOf(ctx), { accountId: account.id });
    expect(fake.tokens.revoked).toHaveLength(1);
    expect(fake.wrong).toEqual([]);
  });

  it("asks to be reconnected where the refresh is refused, with HTTP 200", async () => {
    await using world = await createTikTokWorld();
    const account = await connected(world);
    world.fake.tokens.isRefused = true;
    await world.ctx.clock.advance(2 * DAY);
    await inspectAccount(world.ctx, account);
    expect(await show(world)).toMatchObject({ status: "reconnect_required" });
  });
});

describe("what the account may do", () => {
  it("is kept: its longest video and what it may choose", async () => {
    await using world = await createTikTokWorld();
    const account = await connected(world);
    await inspectAccount(world.ctx, account);
    const row = await findAccountRow(world.ctx.store, account.owner_id, account.id);
    expect(JSON.parse(row!.limits)).toMatchObject({ maxSeconds: 300, privacyLevels: expect.any(Array) });
    const video = (await show(world))?.capabilities.media.accepts.find(({ kind }) => kind === "video");
    expect(video?.maxSeconds).toBe(300);
    const args = { accountId: account.id, field: "privacyLevel" };
    expect((await listChoices(callOf(world.ctx), { ...args, search: "only" })).choices).toEqual([
      { value: "SELF_ONLY", label: "Only you" },
    ]);
  });

  it("says what stands in the way", async () => {
    const settings = { POSTHORN_TIKTOK_SCOPES: "user.info.basic video.upload" };
    await using world = await createTikTokWorld({ settings });
    await inspectAccount(world.ctx, await connected(world));
    expect(await show(world)).toMatchObject({
      status: "connected",
      statusReason: expect.stringContaining("only the mode inbox works"),
    });
  });

  it.each([true, false])("is counted where the app has the Display API: %s", async (hasDisplayApi) => {
    await using world = await createTikTokWorld({ hasDisplayApi });
    const { ctx } = world;
    const account = await connected(world);
    const asked = {
      accountId: account.id,
      from: "2026-11-01",
      to: "2026-11-21",
      granularity: "total",
    } as const;
    const before = world.fake.requests.length;
    const { totals, unavailable } = await getAccountAnalytics(callOf(ctx), asked);
    // What the person did not allow is not asked for.
    expect(world.fake.requests.length - before).toBe(hasDisplayApi ? 1 : 0);
    if (hasDisplayApi) expect(totals).toMatchObject({ followers: 41, following: 2, likes: 300, posts: 0 });
    else
      expect(unavailable).toContainEqual({
        metric: "followers",
        reason: expect.stringMatching(/may not read.*POSTHORN_TIKTOK_SCOPES/),
      });
    const row = await findAccountRow(ctx.store, account.owner_id, account.id);
    expect(row?.status).toBe("connected");
  });
});
