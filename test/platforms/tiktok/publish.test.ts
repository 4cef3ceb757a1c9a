import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import type { Outbound } from "../../../src/ports/outbound.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { refuse } from "./fake.ts";
import { connected, createTikTokWorld, FILM, FILM_URL, type TikTokWorld } from "./world.ts";

type Content = { mediaUrl?: string; caption?: string; metadata?: object };

async function add(world: TikTokWorld, content: Content = {}): Promise<PostRow> {
  const { mediaUrl = FILM_URL, caption = "A #horn @you", metadata = {} } = content;
  return addPost(world.ctx, await connected(world), {
    media_url: mediaUrl,
    caption,
    metadata: JSON.stringify({ privacyLevel: "PUBLIC_TO_EVERYONE", ...metadata }),
  });
}

/** Published or failed. */
async function publish(world: TikTokWorld, content: Content = {}): Promise<PostRow> {
  return finish(world.ctx, (await add(world, content)).id);
}

describe("a film", () => {
  it("goes out in chunks, the last with the rest, and gets its public id as soon as that is told", async () => {
    await using world = await createTikTokWorld();
    const { id } = await add(world);
    const { ctx, fake } = world;
    await drain(ctx);
    expect((await readPost(ctx, id)).status).toBe("publishing");
    await ctx.clock.advance(6_000);
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({
      status: "published",
      platform_post_id: "v_pub_file~v2-1.1",
      platform_url: "https://www.tiktok.com/@horn.tooter",
    });
    expect(await finish(ctx, id)).toMatchObject({
      status: "published",
      platform_post_id: "7311223344556677001",
      platform_url: "https://www.tiktok.com/@horn.tooter/video/7311223344556677001",
      warnings: null,
    });
    const [share] = fake.shares;
    expect(share).toMatchObject({ chunkBytes: 10_000_000, text: "A #horn @you" });
    expect(share?.parts.map(({ length }) => length)).toEqual([10_000_000, 10_000_000, 12_000_001]);
    expect(Buffer.concat(share?.parts ?? []).equals(FILM)).toBe(true);
    expect(fake.wrong).toEqual([]);
  });

  it("carries what was chosen, and what the account has turned off", async () => {
    await using world = await createTikTokWorld();
    Object.assign(world.fake.creator, { duet_disabled: true });
    const metadata = { disableComment: true, coverMs: 500, brandOrganic: true, aiGenerated: true };
    await publish(world, { metadata });
    expect(world.fake.shares[0]?.info).toMatchObject({
      privacy_level: "PUBLIC_TO_EVERYONE",
      disable_comment: true,
      disable_duet: true,
      disable_stitch: false,
      video_cover_timestamp_ms: 500,
      brand_content_toggle: false,
      brand_organic_toggle: true,
      is_aigc: true,
    });
  });

  it("that only its owner sees never has a public id, and is not waited for", async () => {
    await using world = await createTikTokWorld();
    const row = await publish(world, { metadata: { privacyLevel: "SELF_ONLY" } });
    expect(row).toMatchObject({ status: "published", platform_url: "https://www.tiktok.com/@horn.tooter" });
    expect(await readInsights(world.ctx, row)).toMatchObject({ available: true, state: "private" });
  });

  it("goes on at its chunk when the line breaks, and begins anew where TikTok has ended the upload", async () => {
    for (const isOver of [false, true]) {
      await using world = await createTikTokWorld();
      const { ctx, fake } = world;
      let puts = 0;
      const outbound: Outbound = {
        ...fake.door,
        request: async (request) => {
          if (request.method === "PUT" && ++puts === 2) throw new OutboundFailure("It broke off.", true);
          return fake.door.request(request);
        },
      };
      const { id } = await add(world);
      await drain({ ...ctx, outbound });
      expect(fake.shares[0]?.received).toBe(10_000_000);
      if (isOver) fake.shares[0]!.isGone = true;
      expect(await finish(ctx, id, { ...ctx, outbound })).toMatchObject({ status: "published" });
      expect(fake.shares).toHaveLength(isOver ? 2 : 1);
      expect(puts).toBe(isOver ? 5 : 4);
      expect([fake.visible().length, fake.wrong]).toEqual([1, []]);
    }
  });

  it("begins anew once the hour of its upload is over", async () => {
    await using world = await createTikTokWorld();
    const { ctx, fake } = world;
    let isDown = false;
    const outbound: Outbound = {
      ...fake.door,
      request: async (request) => {
        if (isDown) throw new OutboundFailure("Nobody answers.", false);
        const answer = await fake.door.request(request);
        isDown = request.method === "PUT";
        return answer;
      },
    };
    const { id } = await add(world);
    await drain({ ...ctx, outbound });
    await ctx.clock.advance(58 * MINUTE);
    expect(await finish(ctx, id)).toMatchObject({ status: "published" });
    expect(fake.shares.map(({ received }) => received)).toEqual([10_000_000, FILM.length]);
  });
});

describe("photos", () => {
  it("are fetched below our own domain, and their text is the description", async () => {
    await using world = await createTikTokWorld();
    const metadata = { title: "Two", moreMedia: [{ url: PHOTO_URL }], coverIndex: 1, autoAddMusic: true };
    const row = await publish(world, { mediaUrl: PHOTO_URL, metadata });
    expect(row.platform_url).toBe("https://www.tiktok.com/@horn.tooter/photo/7311223344556677001");
    expect(world.fake.shares[0]?.info).toMatchObject({
      title: "Two",
      description: "A #horn @you",
      photo_cover_index: 1,
      auto_add_music: true,
      photo_images: ["https://posthorn.example/files/photo.jpg", "https://posthorn.example/files/photo.jpg"],
    });
    expect(world.fake.wrong).toEqual([]);
  });

  it("whose answer was lost are left to a person where the app may not list posts", async () => {
    await using world = await createTikTokWorld();
    const { ctx, fake } = world;
    const outbound: Outbound = {
      ...fake.door,
      async request(request) {
        const answer = await fake.door.request(request);
        if (request.url.includes("/content/init/")) throw new OutboundFailure("It broke off.", true);
        return answer;
      },
    };
    const { id } = await add(world, { mediaUrl: PHOTO_URL });
    expect(await finish(ctx, id, { ...ctx, outbound })).toMatchObject({
      status: "failed",
      error: expect.stringContaining("the app may not list TikTok's posts"),
    });
    expect(fake.shares).toHaveLength(1);
  });

  it("need a verified domain: whoever runs this must mend it", async () => {
    await using world = await createTikTokWorld();
    world.fake.verified = "https://another.example/";
    const { id } = await add(world, { mediaUrl: PHOTO_URL });
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("URL properties"),
    });
  });
});

describe("the inbox", () => {
  it.each([FILM_URL, PHOTO_URL])("holds %s until its person finishes it", async (mediaUrl) => {
    await using world = await createTikTokWorld();
    const { ctx, fake } = world;
    const account = await connected(world);
    const asked = fake.requests.filter((request) => request.includes("creator_info")).length;
    const { id } = await addPost(ctx, account, { media_url: mediaUrl, metadata: '{"mode":"inbox"}' });
    await drain(ctx);
    await ctx.clock.advance(10_000);
    await drain(ctx);
    const held = await readPost(ctx, id);
    expect(held).toMatchObject({ status: "uploaded", error: expect.stringContaining("TikTok app") });
    expect(fake.requests.filter((request) => request.includes("creator_info"))).toHaveLength(asked);
    fake.finishDraft(held.platform_post_id ?? "", "7311223344556677009");
    expect(await finish(ctx, id)).toMatchObject({
      status: "published",
      platform_post_id: "7311223344556677009",
    });
    expect(fake.wrong).toEqual([]);
  });
});

describe("what TikTok refuses", () => {
  it("waits a minute for its limit", async () => {
    await using world = await createTikTokWorld();
    world.fake.refusal = refuse(429, "rate_limit_exceeded");
    const { id } = await add(world);
    await drain(world.ctx);
    const { next_at: nextAt } = await readPost(world.ctx, id);
    expect(nextAt).toBe(world.ctx.clock.now() + MINUTE);
  });

  it.each([
    ["picture_size_check_failed", /9:16/],
    ["auth_removed", /Reconnect/],
    ["spam_risk_text", /text/],
    ["brand_new_reason", /brand_new_reason/],
  ])("after the upload (%s) fails the post with its reason", async (reason, words) => {
    await using world = await createTikTokWorld();
    world.fake.failReason = reason;
    expect(await publish(world)).toMatchObject({ status: "failed", error: expect.stringMatching(words) });
    expect(world.fake.visible()).toHaveLength(0);
  });

  it("is refused before it is sent where the account may not: its privacy, its longest film", async () => {
    await using world = await createTikTokWorld({ film: { durationSeconds: 200 } });
    const { id } = await add(world);
    world.fake.creator.max_video_post_duration_sec = 60;
    const { error } = await finish(world.ctx, id);
    expect(error).toMatch(/^mediaUrl: the video lasts 200 seconds, and this account may post at most 60/);
    await using other = await createTikTokWorld();
    expect((await publish(other, { metadata: { privacyLevel: "FOLLOWER_OF_CREATOR" } })).error).toMatch(
      /^metadata.privacyLevel: TikTok offers this account PUBLIC_TO_EVERYONE/,
    );
    expect([...world.fake.shares, ...other.fake.shares]).toEqual([]);
  });
});

describe("scheduling", () => {
  const dryRun = async (content: Content) => {
    await using world = await createTikTokWorld();
    const { id } = await connected(world);
    const { mediaUrl = FILM_URL, caption = "A horn", metadata = {} } = content;
    const args = { accountId: id, caption, mediaUrl, metadata: { ...metadata }, dryRun: true } as const;
    return await schedulePost(callOf(world.ctx), args);
  };

  it("tells that a draft waits for a person, and that its text does not come along", async () => {
    const { warnings } = await dryRun({ metadata: { mode: "inbox" } });
    expect(warnings.join(" ")).toMatch(/until a person finishes it.*Enter the caption in the app/s);
  });

  it("tells which switches a draft does not have", async () => {
    const switches = { aiGenerated: true, brandContent: true, brandOrganic: true, disableComment: true };
    const { warnings } = await dryRun({ metadata: { mode: "inbox", ...switches, disableDuet: false } });
    expect(warnings.join(" ")).toContain(
      `drops ${Object.keys(switches)
        .map((name) => `metadata.${name}`)
        .join(", ")} with a draft`,
    );
  });

  it.each([
    [{ privacyLevel: "PUBLIC_TO_EVERYONE" }, ""],
    [{ privacyLevel: "SELF_ONLY" }, expect.stringMatching(/^metadata.coverMs: .*everybody can see/)],
    [{ mode: "inbox" }, expect.stringMatching(/^metadata.coverMs: .*in the app/)],
  ])("tells where the chosen cover is not heeded: %o", async (metadata, warning) => {
    const { warnings } = await dryRun({ metadata: { ...metadata, coverMs: 500 } });
    expect(warnings.map(String).find((one) => one.includes("coverMs")) ?? "").toEqual(warning);
  });

  it("leaves more room for the text of photos", async () => {
    const metadata = { privacyLevel: "SELF_ONLY", moreMedia: [{ url: PHOTO_URL }] };
    const caption = "x".repeat(3_000);
    expect((await dryRun({ mediaUrl: PHOTO_URL, caption, metadata })).post.caption).toHaveLength(3_000);
    await expect(dryRun({ caption, metadata: { privacyLevel: "SELF_ONLY" } })).rejects.toMatchObject({
      message: expect.stringMatching(/^caption: /),
    });
  });
});

describe("a post that is out", () => {
  it("tells its numbers, by an id of more digits than a number holds", async () => {
    await using world = await createTikTokWorld({ hasDisplayApi: true });
    const row = await publish(world);
    expect(await readInsights(world.ctx, row)).toMatchObject({
      available: true,
      state: "live",
      visibility: "public",
      metrics: { views: 1_200, likes: 34, comments: 5, shares: 6 },
    });
    world.fake.shares[0]!.isGone = true;
    expect(await readInsights(world.ctx, row)).toMatchObject({ available: true, state: "removed" });
  });

  it("tells no numbers without the permission, and goes on posting", async () => {
    await using world = await createTikTokWorld();
    const account = await connected(world);
    const metadata = '{"privacyLevel":"PUBLIC_TO_EVERYONE"}';
    const { id } = await addPost(world.ctx, account, { media_url: FILM_URL, metadata });
    const row = await finish(world.ctx, id);
    expect(await readInsights(world.ctx, row)).toMatchObject({
      available: false,
      reason: expect.stringContaining("may not read"),
    });
    const after = await findAccountRow(world.ctx.store, account.owner_id, account.id);
    expect(after?.status).toBe("connected");
  });

  it("cannot be changed", async () => {
    await using world = await createTikTokWorld();
    const { id } = await publish(world);
    await expect(editPublishedPost(callOf(world.ctx), { id, caption: "New" })).rejects.toMatchObject({
      kind: "conflict",
    });
  });

  it("counts: the sixteenth in 24 hours waits for a place without a request", async () => {
    await using world = await createTikTokWorld();
    for (let post = 0; post < 15; post += 1) {
      await finish(world.ctx, (await add(world)).id);
      await world.ctx.clock.advance(MINUTE);
    }
    const shares = world.fake.shares.length;
    const { id } = await add(world);
    await drain(world.ctx);
    expect([shares, world.fake.shares.length]).toEqual([15, 15]);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("takes 15 (posts a day)"),
    });
  });
});
