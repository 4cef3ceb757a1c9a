import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import { OutboundFailure, type Outbound } from "../../../src/ports/outbound.ts";
import { ofLittleText, toLittleText } from "../../../src/platforms/linkedin/text.ts";
import { getAccountAnalytics } from "../../../src/services/accounts/analytics.ts";
import { listAccounts } from "../../../src/services/accounts/accounts.ts";
import { readInsights } from "../../../src/services/posts/insights.ts";
import { editPublishedPost } from "../../../src/services/posts/live-posts.ts";
import type { AccountRow } from "../../../src/store/tables/accounts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { refuse } from "./fake.ts";
import { connected, createLinkedInWorld, FILM_URL, PAGE_SCOPES, type LinkedInWorld } from "./world.ts";

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

  it("finds each Page that the person administers, where the settings ask for them", async () => {
    await using world = await createLinkedInWorld({ settings: { POSTHORN_LINKEDIN_SCOPES: PAGE_SCOPES } });
    world.fake.pages = [
      { id: "11", name: "Horn Ltd" },
      { id: "12", name: "Brass Club" },
    ];
    const { rows } = await world.connect();
    expect(rows.map(({ name, platform_account_id: id }) => [name, id])).toEqual([
      ["Ada Horn", "p-1"],
      ["Horn Ltd", "urn:li:organization:11"],
      ["Brass Club", "urn:li:organization:12"],
    ]);
    expect(world.fake.wrong).toEqual([]);
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
  });
});

describe("a post", () => {
  it("has a page of its own, is changed in place, and tells its reactions", async () => {
    await using world = await createLinkedInWorld();
    const row = await finish(world.ctx, (await add(world, await connected(world))).id);
    const [post] = world.fake.posts;
    expect(row).toMatchObject({
      platform_post_id: post?.id,
      platform_url: `https://www.linkedin.com/feed/update/${post?.id}/`,
    });
    await editPublishedPost(callOf(world.ctx), { id: row.id, caption: "New (really)" });
    expect(post?.commentary).toBe(String.raw`New \(really\)`);
    expect(await readInsights(world.ctx, row)).toMatchObject({
      state: "live",
      metrics: { likes: 4, comments: 0 },
    });
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
      const settings = isPage ? { POSTHORN_LINKEDIN_SCOPES: PAGE_SCOPES } : {};
      await using world = await createLinkedInWorld({ settings });
      const { ctx, fake } = world;
      fake.pages = isPage ? [{ id: "11", name: "Horn Ltd" }] : [];
      const { rows } = await world.connect();
      const { id } = await add(world, rows.at(-1)!);
      await drain({ ...ctx, outbound: losing(world, true) });
      await ctx.clock.advance(30 * 60_000);
      const { status, error, platform_post_id: found } = await finish(ctx, id);
      expect(fake.posts).toHaveLength(1);
      if (isPage) expect([status, found]).toEqual(["published", fake.posts[0]?.id]);
      else expect([status, error]).toEqual(["failed", expect.stringMatching(/^outcome unknown: /)]);
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
  it("a version that it retired is for whoever runs this to mend", async () => {
    await using world = await createLinkedInWorld();
    const { id } = await add(world, await connected(world));
    world.fake.versions = ["202712"];
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("POSTHORN_LINKEDIN_API_VERSION"),
    });
  });

  it.each([
    [refuse(400, "FIELD_INVALID"), "failed", /FIELD_INVALID/, "connected"],
    [refuse(429, "TOO_MANY_REQUESTS"), "scheduled", /slow down/, "connected"],
    [refuse(403, "ACCESS_DENIED"), "scheduled", /must be reconnected/, "reconnect_required"],
  ] as const)("%o is told in plain words", async (answer, status, words, channel) => {
    await using world = await createLinkedInWorld();
    const { id } = await add(world, await connected(world));
    world.fake.refusal = answer;
    await drain(world.ctx);
    const row = await readPost(world.ctx, id);
    expect([row.status, row.error]).toEqual([status, expect.stringMatching(words)]);
    const [account] = (await listAccounts(callOf(world.ctx))).accounts;
    expect(account?.status).toBe(channel);
    expect(world.ctx.log.text()).not.toContain("canary");
  });
});
