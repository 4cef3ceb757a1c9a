import { describe, expect, it } from "vitest";
import { DAY, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { OutboundFailure, type Outbound } from "../../../src/ports/outbound.ts";
import { ofLittleText, PAGE_SCOPES, toLittleText } from "../../../src/platforms/linkedin/metadata.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import linkedin from "../../../src/platforms/linkedin/index.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import type { AccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { PAGE_APP, refuse } from "./fake.ts";
import { connected, connectedPage, createLinkedInWorld, FILM_URL, type LinkedInWorld } from "./world.ts";

const add = (world: LinkedInWorld, account: AccountRow, caption = "A horn") =>
  addPost(world.ctx, account, { caption });

/** The door, which loses what happens to the next request for a post. */
function losing({ fake }: LinkedInWorld, isActedOn: boolean): Outbound {
  let isDue = true;
  return {
    ...fake.door,
    request: async (request) => {
      const isPost = request.method === "POST" && request.url.endsWith("/rest/posts");
      if (!isPost || !isDue) return fake.door.request(request);
      isDue = false;
      if (isActedOn) await fake.door.request(request);
      throw new OutboundFailure("It broke off.", true);
    },
  };
}

describe("connecting", () => {
  it("finds the member, for 60 days, and tells a week before that it ends", async () => {
    await using world = await createLinkedInWorld();
    const { url } = await world.connect();
    expect(url).toContain("scope=openid%20profile%20w_member_social");
    const show = async () => (await listAccounts(callOf(world.ctx))).accounts[0];
    expect(await show()).toMatchObject({ platformAccountId: "p-1", name: "Ada Horn", status: "connected" });
    await world.ctx.clock.advance(53 * DAY + 1_000);
    expect(await show()).toMatchObject({ status: "expiring" });
    expect(world.fake.wrong).toEqual([]);
  });

  it("finds the member and each Page that they administer, by the app that is only for Pages", async () => {
    await using world = await createLinkedInWorld();
    world.fake.pages = [
      { id: "11", name: "Horn Ltd" },
      { id: "12", name: "Brass Club" },
    ];
    const { rows, url } = await world.connect(undefined, "pages");
    expect(new URL(url).searchParams.get("client_id")).toBe(PAGE_APP.id);
    expect(rows.map(({ name, platform_account_id: id, profile_url: at }) => [name, id, at])).toEqual([
      ["Ada Horn", "p-1", "https://www.linkedin.com/in/ada-horn/"],
      ["Horn Ltd", "urn:li:organization:11", "https://www.linkedin.com/company/11/"],
      ["Brass Club", "urn:li:organization:12", "https://www.linkedin.com/company/12/"],
    ]);
    const page = rows[1]!;
    const post = await finish(world.ctx, (await add(world, page)).id);
    expect(world.fake.posts[0]?.json.author).toBe("urn:li:organization:11");
    expect(await readInsights(world.ctx, post)).toMatchObject({
      state: "live",
      metrics: { impressions: 500, reach: 400, clicks: 30, likes: 4, comments: 1, shares: 2 },
    });
    const asked = { accountId: page.id, from: "2026-11-01", granularity: "total" } as const;
    const { totals } = await getAccountAnalytics(callOf(world.ctx), asked);
    expect(totals).toMatchObject({ followers: 77, impressions: 500 });
    expect(world.fake.wrong).toEqual([]);
  });

  it("finds the Pages of a content admin, and tells of those where nothing may be posted", async () => {
    await using world = await createLinkedInWorld();
    world.fake.pages = [
      { id: "11", name: "Horn Ltd", roles: ["ANALYST", "CONTENT_ADMINISTRATOR"] },
      { id: "12", name: "Brass Club", roles: ["ANALYST"] },
    ];
    const { rows } = await world.connect(undefined, "pages");
    expect(rows.map(({ name }) => name)).toEqual(["Ada Horn", "Horn Ltd"]);
    const io = await createPlatformIo(world.ctx, rows[1]!, AbortSignal.timeout(5_000));
    expect(await linkedin.inspect?.(io)).toEqual({ problem: null });
    world.fake.pages = [{ id: "11", name: "Horn Ltd", roles: ["ANALYST"] }];
    expect((await linkedin.inspect?.(io))?.problem).toMatch(/may no longer post as it/);
    expect(world.fake.wrong).toEqual([]);
  });

  it("needs only the settings of the way that is taken", async () => {
    await using world = await createLinkedInWorld({ settings: { POSTHORN_LINKEDIN_PAGE_CLIENT_ID: "" } });
    await expect(world.connect(undefined, "pages")).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("POSTHORN_LINKEDIN_PAGE_CLIENT_ID is not set"),
    });
    expect((await world.connect()).error).toBeNull();
  });
});

describe("what the channel's permissions open", () => {
  const show = async ({ ctx }: LinkedInWorld, id: string) =>
    (await listAccounts(callOf(ctx))).accounts.find((one) => one.id === id)?.capabilities.analytics;

  it("of a member by an app for profiles is no number and no comment", async () => {
    await using world = await createLinkedInWorld();
    const account = await connected(world);
    expect(await show(world, account.id)).toEqual({ account: [], post: [] });
    const row = await finish(world.ctx, (await add(world, account)).id);
    expect(await readInsights(world.ctx, row)).toMatchObject({
      available: false,
      reason: expect.stringContaining("Community Management API"),
    });
    expect(world.fake.requests.join()).not.toContain("socialMetadata");
    const commented = { accountId: account.id, caption: "A", metadata: { firstComment: "B" }, dryRun: true };
    await expect(schedulePost(callOf(world.ctx), commented)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^metadata.firstComment: .* w_member_social_feed/),
    });
  });

  it("of a member by an app with Community Management is what it tells of their posts", async () => {
    await using world = await createLinkedInWorld();
    const { rows } = await world.connect(undefined, "pages");
    const [account] = rows;
    expect(await show(world, account!.id)).toEqual({
      account: [],
      post: ["impressions", "reach", "likes", "comments", "shares"],
    });
    const metadata = JSON.stringify({ firstComment: "Loud." });
    const { id } = await addPost(world.ctx, account!, { caption: "A horn", metadata });
    const row = await finish(world.ctx, id);
    expect([row.warnings, world.fake.posts[0]?.comments.length]).toEqual([null, 1]);
    expect(await readInsights(world.ctx, row)).toMatchObject({
      state: "live",
      metrics: { impressions: 90, reach: 80, likes: 7, comments: 1, shares: 2 },
    });
    expect(world.fake.wrong).toEqual([]);
  });

  it("of a Page without the permission for comments are its statistics all the same", async () => {
    await using world = await createLinkedInWorld();
    const granted = PAGE_SCOPES.filter((scope) => !scope.endsWith("_feed"));
    world.fake.pages = [{ id: "11", name: "Horn Ltd" }];
    const { rows } = await world.connect(granted, "pages");
    const row = await finish(world.ctx, (await add(world, rows.at(-1)!)).id);
    const metrics = { impressions: 500, likes: 4, comments: 1 };
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "live", metrics });
    world.fake.posts = [];
    expect(await readInsights(world.ctx, row)).toMatchObject({ state: "removed" });
  });

  it("of a Page whose statistics are refused are its reactions and comments", async () => {
    await using world = await createLinkedInWorld();
    const row = await finish(world.ctx, (await add(world, await connectedPage(world))).id);
    world.fake.isStatisticsRefused = true;
    expect(await readInsights(world.ctx, row)).toMatchObject({
      state: "live",
      metrics: { impressions: null, likes: 4, comments: 0 },
    });
  });
});

describe("a picture or a film that LinkedIn still works on", () => {
  const withPicture = { caption: "A horn", media_url: PHOTO_URL };

  it.each([
    ["of a member's", connected],
    ["of a Page's", connectedPage],
  ] as const)("%s post is waited for", async (_whose, connect) => {
    await using world = await createLinkedInWorld();
    const { id } = await addPost(world.ctx, await connect(world), withPicture);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", warnings: null });
    expect([world.fake.posts.length, world.fake.tooSoon, world.fake.wrong]).toEqual([1, 0, []]);
  });

  it.each([
    [
      "link",
      {
        caption: "A",
        media_url: "",
        link: { link: "https://a.example/", title: "A", thumbnailUrl: PHOTO_URL },
      },
    ],
    ["film", { caption: "A", media_url: FILM_URL, link: {} }],
  ])("of a %s is waited for where it may not be asked about", async (_kind, { link, ...post }) => {
    await using world = await createLinkedInWorld();
    world.fake.unreadable = ["images", "videos"];
    const { id } = await addPost(world.ctx, await connectedPage(world), {
      ...post,
      metadata: JSON.stringify(link),
    });
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", warnings: null });
    expect([world.fake.posts.length, world.fake.tooSoon]).toEqual([1, 0]);
  });

  it.each([
    refuse(400, "MEDIA_ASSET_WAITING_UPLOAD", "Media asset is waiting upload"),
    refuse(422, "", "The video media is still processing"),
  ])("holds the post up and does not fail it: %o", async (answer) => {
    await using world = await createLinkedInWorld();
    const { id } = await addPost(world.ctx, await connected(world), withPicture);
    world.fake.refusal = answer;
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", warnings: null });
    expect(world.fake.posts).toHaveLength(1);
  });

  it("is brought ahead of the post's time, and a text is not", async () => {
    await using world = await createLinkedInWorld();
    const { ctx } = world;
    const accountId = (await connected(world)).id;
    const scheduledAt = new Date(ctx.clock.now() + 60 * MINUTE).toISOString();
    const plan = async (given: object) =>
      (await schedulePost(callOf(ctx), { accountId, scheduledAt, caption: "A", ...given })).post;
    const [picture, text] = [await plan({ mediaUrl: PHOTO_URL }), await plan({ caption: "B" })];
    await ctx.clock.advance(58 * MINUTE);
    await drain(ctx);
    expect([world.fake.puts, world.fake.posts.length]).toEqual([1, 0]);
    expect((await readPost(ctx, picture.id)).attempts).toBeGreaterThan(0);
    expect((await readPost(ctx, text.id)).attempts).toBe(0);
    for (const { id } of [picture, text])
      expect(await finish(ctx, id)).toMatchObject({ status: "published" });
  });
});

describe("a post", () => {
  it("has a page of its own and is changed in place", async () => {
    await using world = await createLinkedInWorld();
    const row = await finish(world.ctx, (await add(world, await connected(world))).id);
    const [post] = world.fake.posts;
    expect(row).toMatchObject({
      platform_post_id: post?.id,
      platform_url: `https://www.linkedin.com/feed/update/${post?.id}/`,
    });
    await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "New (really)" });
    expect(post?.commentary).toBe(String.raw`New \(really\)`);
  });

  it("escapes what is markup, and leaves hashtags", () => {
    expect(toLittleText("#horn (a_b) # @you \\ 1 < 2")).toBe(String.raw`#horn \(a\_b\) \# \@you \\ 1 \< 2`);
  });

  it("is known again as LinkedIn gives it back", () => {
    const text = "#horn (a_b)  # @you";
    expect(ofLittleText(toLittleText(text))).toBe("#horn (a_b) # @you");
    expect(ofLittleText(String.raw`{hashtag|\#|horn} \(a\_b\) \# \@you`)).toBe("#horn (a_b) # @you");
  });

  it("that is a duplicate fails at first, naming the older one, and is adopted after a lost answer", async () => {
    await using world = await createLinkedInWorld();
    const { ctx, fake } = world;
    const account = await connected(world);
    const outbound = losing(world, true);
    const first = await finish(ctx, (await add(world, account)).id, { ...ctx, outbound });
    expect(first).toMatchObject({ status: "published", platform_post_id: fake.posts[0]?.id });
    const again = await finish(ctx, (await add(world, account)).id);
    expect([again.status, again.error]).toEqual([
      "failed",
      expect.stringContaining(`duplicate of https://www.linkedin.com/feed/update/${fake.posts[0]?.id}/`),
    ]);
    expect(fake.posts).toHaveLength(1);
  });

  it.each([true, false])(
    "in doubt for long is told to its person, a Page's is looked up (%s)",
    async (isPage) => {
      await using world = await createLinkedInWorld();
      const { ctx, fake } = world;
      const account = await (isPage ? connectedPage : connected)(world);
      const { id } = await add(world, account);
      await drain({ ...ctx, outbound: losing(world, true) });
      await ctx.clock.advance(30 * 60_000);
      const { status, error, platform_post_id: found } = await finish(ctx, id);
      expect(fake.posts).toHaveLength(1);
      if (isPage) expect([status, found]).toEqual(["published", fake.posts[0]?.id]);
      else expect([status, error]).toEqual(["failed", expect.stringMatching(/^outcome unknown: /)]);
    },
  );

  it.each([true, false])(
    "that is called a duplicate of a post that is not there is not that post (sent before: %s)",
    async (isThere) => {
      await using world = await createLinkedInWorld();
      const { ctx, fake } = world;
      const { id } = await add(world, await connectedPage(world));
      await drain({ ...ctx, outbound: losing(world, isThere) });
      fake.hasGhosts = true;
      const row = await finish(ctx, id);
      if (isThere) expect([row.status, row.platform_post_id]).toEqual(["published", fake.posts[0]?.id]);
      else
        expect([row.status, row.platform_post_id, row.error]).toEqual([
          "failed",
          null,
          expect.stringContaining("not there any more"),
        ]);
    },
  );

  it("goes on with its film at the part that is missing", async () => {
    await using world = await createLinkedInWorld();
    const { ctx, fake } = world;
    let puts = 0;
    const outbound: Outbound = {
      ...fake.door,
      request: async (request) => {
        if (request.method === "PUT" && ++puts === 2) throw new OutboundFailure("It broke off.", true);
        return fake.door.request(request);
      },
    };
    const { id } = await addPost(ctx, await connected(world), { media_url: FILM_URL });
    expect(await finish(ctx, id, { ...ctx, outbound })).toMatchObject({ status: "published" });
    expect([fake.puts, fake.wrong]).toEqual([3, []]);
  });
});

describe("what LinkedIn refuses", () => {
  it("a version of its API that it does not take is for whoever runs this to mend", async () => {
    await using world = await createLinkedInWorld();
    const { id } = await add(world, await connected(world));
    world.fake.isRetired = true;
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("POSTHORN_LINKEDIN_API_VERSION"),
    });
    // It will not be mended within seconds.
    const { attempts } = await readPost(world.ctx, id);
    await world.ctx.clock.advance(30 * SECOND);
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({ attempts });
  });

  it("no film that a phone or a camera makes: it is made H.264 and AAC, and no stripe", () => {
    const film = linkedin.capabilities.media.accepts.find(({ kind }) => kind === "video");
    expect(film).toMatchObject({ videoCodecs: ["avc"], audioCodecs: ["aac"], maxAspectRatio: 2.4 });
  });

  it("a version of a month that has none is none either, and an older one is asked for", async () => {
    await using world = await createLinkedInWorld();
    world.fake.leftOut = ["202607"];
    expect(await finish(world.ctx, (await add(world, await connected(world))).id)).toMatchObject({
      status: "published",
    });
  });

  it("a version that is some months old, and years later another one, unless one is set", async () => {
    await using world = await createLinkedInWorld();
    await world.ctx.clock.advance(800 * DAY);
    const account = await connected(world);
    expect(await finish(world.ctx, (await add(world, account)).id)).toMatchObject({ status: "published" });
    const settings = { POSTHORN_LINKEDIN_API_VERSION: "202501" };
    await using old = await createLinkedInWorld({ settings });
    const { id } = await add(old, await connected(old));
    await drain(old.ctx);
    expect(await readPost(old.ctx, id)).toMatchObject({ status: "scheduled" });
  });
});
