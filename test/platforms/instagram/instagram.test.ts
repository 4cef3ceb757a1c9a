import { afterEach, describe, expect, it } from "vitest";
import instagram from "../../../src/platforms/instagram/index.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { contentOf, type StagePost } from "../../support/contract/stage.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { refusal, type Answer } from "./meta-door.ts";
import { openStage, refusesWith, type InstagramStage } from "./stage.ts";
import { PNG_URL } from "./stage-kit.ts";

const open: InstagramStage[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) {
    expect(one.instagram.door.wrong).toEqual([]);
    await one[Symbol.asyncDispose]();
  }
});

async function openOne(): Promise<InstagramStage> {
  const stage = await openStage(instagram);
  open.push(stage);
  return stage;
}

const picture: StagePost = { caption: "A horn", media_url: PHOTO_URL, metadata: {} };

async function post(stage: InstagramStage, content: Partial<StagePost> = {}) {
  const { id } = await addPost(stage.ctx, stage.account, contentOf({ ...picture, ...content }));
  return finish(stage.ctx, id);
}

/** Answers so to the first request to such a path, and sends the rest on. */
function answering(stage: InstagramStage, path: RegExp, answer: Answer): void {
  const { outbound } = stage.ctx;
  let isDone = false;
  const trouble = refusesWith(answer);
  const request: typeof outbound.request = async (sent) => {
    if (isDone || sent.method !== "POST" || !path.test(sent.url)) return outbound.request(sent);
    isDone = true;
    return trouble(() => outbound.request(sent), sent);
  };
  Object.assign(stage.ctx, { outbound: { ...outbound, request } });
}

/** The narrowest shape of each picture that is asked for. */
function watchShapes({ ctx }: InstagramStage): (number | undefined)[] {
  const shapes: (number | undefined)[] = [];
  const { media } = ctx;
  const forPost: typeof media.forPost = (owner, signal) => {
    const source = media.forPost(owner, signal);
    return {
      ...source,
      async fitImage(item, limits) {
        shapes.push(limits.aspect?.min);
        return source.fitImage(item, limits);
      },
    };
  };
  Object.assign(ctx, { media: { ...media, forPost } });
  return shapes;
}

describe("what goes to Instagram", () => {
  it("is a picture with its words, and found again under its address", async () => {
    const stage = await openOne();
    const row = await post(stage, {
      metadata: { altText: "A horn", collaborators: ["@friend.of"], locationId: "7640348500" },
    });
    const [shown] = stage.instagram.shelf.posts;
    expect(row).toMatchObject({
      status: "published",
      platform_post_id: shown?.id,
      platform_url: `https://www.instagram.com/p/C${shown?.id.slice(-6)}/`,
    });
    expect(shown?.fields).toEqual({
      image_url: PHOTO_URL,
      caption: "A horn",
      alt_text: "A horn",
      collaborators: '["friend.of"]',
      location_id: "7640348500",
    });
  });

  it("is a JPEG under an address of ours where the picture is none", async () => {
    const stage = await openOne();
    expect(await post(stage, { media_url: PNG_URL })).toMatchObject({ status: "published" });
    expect(stage.instagram.shelf.posts[0]?.fields["image_url"]).toMatch(
      /^https:\/\/posthorn\.example\/public\//,
    );
  });

  it("is a picture of 3:4 as it is, and with bars, which is said, where Instagram refuses that", async () => {
    const stage = await openOne();
    const shapes = watchShapes(stage);
    expect(await post(stage)).toMatchObject({ status: "published", warnings: null });
    expect(shapes).toEqual([0.75]);
    answering(stage, /\/media$/, refusal(36_003, 2_207_009));
    const row = await post(stage, { caption: "Again" });
    expect(row).toMatchObject({ status: "published", attempts: 1 });
    expect(row.warnings).toContain("white bars");
    expect(shapes).toEqual([0.75, 0.75, 0.8]);
    expect(await stage.published()).toBe(2);
  });

  it("fails where it is refused with bars, too", async () => {
    const stage = await openOne();
    const { outbound } = stage.ctx;
    const trouble = refusesWith(refusal(36_003, 2_207_009));
    const request: typeof outbound.request = async (sent) =>
      sent.method === "POST" && sent.url.endsWith("/media")
        ? trouble(() => outbound.request(sent), sent)
        : outbound.request(sent);
    Object.assign(stage.ctx, { outbound: { ...outbound, request } });
    expect(await post(stage)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: Instagram takes pictures from 3:4 to 1\.91:1\. Crop it\./),
    });
  });

  it("is a reel where it is a single film", async () => {
    const stage = await openOne();
    await post(stage, {
      media_url: CLIP_URL,
      metadata: { thumbOffsetMs: 1_500, shareToFeed: false, audioName: "Horn" },
    });
    expect(stage.instagram.shelf.posts[0]?.fields).toEqual({
      media_type: "REELS",
      video_url: CLIP_URL,
      caption: "A horn",
      thumb_offset: "1500",
      share_to_feed: "false",
      audio_name: "Horn",
    });
  });

  it("is a carousel of films and pictures in their order", async () => {
    const stage = await openOne();
    const moreMedia = [{ url: CLIP_URL }, { url: PHOTO_URL, altText: "Again" }];
    expect(await post(stage, { metadata: { moreMedia } })).toMatchObject({ status: "published" });
    const { containers, posts } = stage.instagram.shelf;
    const children = posts[0]?.fields["children"]?.split(",") ?? [];
    expect(children.map((id) => containers.get(id)?.fields)).toEqual([
      { is_carousel_item: "true", image_url: PHOTO_URL },
      { is_carousel_item: "true", media_type: "VIDEO", video_url: CLIP_URL },
      { is_carousel_item: "true", image_url: PHOTO_URL, alt_text: "Again" },
    ]);
  });
});

describe("containers made ahead", () => {
  it("are made anew where they ran out before the time", async () => {
    const stage = await openOne();
    const { ctx } = stage;
    const at = ctx.clock.now() + 30 * HOUR;
    const moreMedia = [{ url: PHOTO_URL }];
    const { id } = await addPost(ctx, stage.account, {
      ...contentOf({ ...picture, metadata: { moreMedia } }),
      scheduled_at: at,
      due_at: ctx.clock.now(),
    });
    await drain(ctx);
    await ctx.clock.advance(5_000);
    await drain(ctx);
    expect(stage.instagram.shelf.containers.size).toBe(3);
    expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
    expect(stage.instagram.shelf.containers.size).toBe(6);
    expect(await stage.published()).toBe(1);
  });

  it("are made anew a few times where Instagram failed, and then the post fails", async () => {
    const stage = await openOne();
    stage.instagram.shelf.state.failing = {
      status: "Error: upload failed with error code 2207053",
      times: 2,
    };
    expect(await post(stage)).toMatchObject({ status: "published" });
    expect(stage.instagram.shelf.containers.size).toBe(3);
    stage.instagram.shelf.state.failing = { status: "Error: failed with error code 2207053", times: 99 };
    expect(await post(stage)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("problem of its own"),
    });
    expect(stage.instagram.shelf.containers.size).toBeLessThan(10);
  });

  it("end the post at once where the media are at fault", async () => {
    const stage = await openOne();
    stage.instagram.shelf.state.failing = { status: "Error: failed with error code 2207026", times: 1 };
    expect(await post(stage, { media_url: CLIP_URL })).toMatchObject({
      status: "failed",
      error: expect.stringContaining("H.264"),
    });
    expect(stage.instagram.shelf.containers.size).toBe(1);
  });
});

describe("what Instagram refuses", () => {
  it.each([
    ["media it cannot fetch for a moment", /\/media$/, refusal(9_004, 2_207_052)],
    ["a picture of another shape, once", /\/media$/, refusal(36_003, 2_207_009)],
    ["a container that is not ready", /media_publish/, refusal(9_007, 2_207_027)],
    ["a container that is gone", /media_publish/, refusal(24, 2_207_006)],
  ])("once is no more than that: %s", async (_what, path, answer) => {
    const stage = await openOne();
    answering(stage, path, answer);
    expect(await post(stage)).toMatchObject({ status: "published", error: null });
    const row = await findAccountRow(stage.ctx.store, stage.account.owner_id, stage.account.id);
    expect(row?.status).toBe("connected");
  });

  it.each(["when it is made", "when it is processed"])(
    "makes a container anew whose media were not fetched %s, a few times",
    async (when) => {
      const stage = await openOne();
      const { shelf, state } = stage.instagram;
      const fail = (times: number): void => {
        if (when === "when it is made") state.unfetched = times;
        else shelf.state.failing = { status: "Error: with error code 2207052", times };
      };
      const moreMedia = [{ url: PHOTO_URL }, { url: PHOTO_URL }];
      fail(1);
      expect(await post(stage, { metadata: { moreMedia } })).toMatchObject({
        status: "published",
        error: null,
      });
      const tries = (): number =>
        stage.instagram.door.sent.filter(({ path }) => path.endsWith("/media")).length;
      const before = tries();
      fail(99);
      expect(await post(stage)).toMatchObject({
        status: "failed",
        error: expect.stringMatching(
          /^mediaUrl: Instagram could not fetch the media\. .*POSTHORN_PUBLIC_URL.*send the post again\.( Instagram says: ".+")?$/,
        ),
      });
      expect(tries() - before).toBe(4);
      expect(await stage.published()).toBe(1);
    },
  );

  it("waits for an hour where the day's quota is used up, and says so", async () => {
    const stage = await openOne();
    const { ctx } = stage;
    answering(stage, /media_publish/, refusal(9, 2_207_042, 403));
    const { id } = await addPost(ctx, stage.account, contentOf(picture));
    await drain(ctx);
    const row = await readPost(ctx, id);
    expect(row.error).toMatch(/quota for 24 hours/);
    expect(row.next_at).toBe(ctx.clock.now() + HOUR);
    expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
    expect(await stage.published()).toBe(1);
  });

  it("leaves the post published where the first comment is refused", async () => {
    const stage = await openOne();
    stage.instagram.state.refusesComments = true;
    const row = await post(stage, { metadata: { firstComment: "More" } });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(JSON.parse(row.warnings ?? "[]")).toEqual([
      expect.stringMatching(/^The first comment did not go through/),
    ]);
  });

  it("is held back by the quota that the account told of", async () => {
    const stage = await openOne();
    stage.instagram.state.quota = 1;
    expect(await post(stage)).toMatchObject({ status: "published" });
    await inspectAccount(stage.ctx, stage.account);
    const before = stage.instagram.door.sent.length;
    expect(await post(stage)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("which takes 1"),
    });
    expect(stage.instagram.door.sent.length).toBe(before);
    await stage.ctx.clock.advance(DAY);
    expect(await post(stage)).toMatchObject({ status: "published" });
  });
});

it("adopts what was published where the platform lists it late, or not at all", async () => {
  for (const listsAfterMs of [40_000, 99 * DAY]) {
    const stage = await openOne();
    stage.instagram.shelf.state.listsAfterMs = listsAfterMs;
    const { outbound } = stage.ctx;
    const request: typeof outbound.request = async (sent) => {
      const answer = await outbound.request(sent);
      return sent.url.endsWith("media_publish") ? { ...answer, status: 502 } : answer;
    };
    Object.assign(stage.ctx, { outbound: { ...outbound, request } });
    const row = await post(stage);
    const id = listsAfterMs < MINUTE ? stage.instagram.shelf.posts[0]?.id : null;
    expect(row).toMatchObject({ status: "published", platform_post_id: id, error: null });
    expect(await stage.published()).toBe(1);
  }
});

describe("numbers", () => {
  it("of a post, without those that the account does not show", async () => {
    const stage = await openOne();
    const row = await post(stage);
    expect((await readInsights(stage.ctx, row)).metrics).toEqual({
      views: 10,
      reach: 11,
      likes: 12,
      comments: 13,
      shares: 14,
      saves: 15,
      impressions: null,
      clicks: null,
    });
    stage.instagram.state.insightsCode = 10;
    expect(await readInsights(stage.ctx, row)).toMatchObject({
      state: "live",
      metrics: { likes: 3, comments: 1, views: null },
    });
    const shown = stage.instagram.shelf.posts[0];
    if (shown !== undefined) shown.isDeleted = true;
    expect(await readInsights(stage.ctx, row)).toMatchObject({ available: true, state: "removed" });
  });

  it("of the account, in requests of 30 days at most", async () => {
    const stage = await openOne();
    const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
    const short = await instagram.analytics?.({ from: "2026-11-14", to: "2026-11-20" }, io);
    expect(short).toMatchObject({
      totals: { followers: 77, views: 7, reach: 7, clicks: 7 },
      unavailable: [],
    });
    expect(short?.days).toHaveLength(7);
    expect(short?.days[0]).toEqual({ date: "2026-11-14", metrics: { reach: 5 } });
    const long = await instagram.analytics?.({ from: "2026-10-01", to: "2026-11-20" }, io);
    expect(long).toMatchObject({ totals: { views: 14 }, unavailable: [{ metric: "reach" }] });
    expect(long?.days).toHaveLength(51);
    const old = await instagram.analytics?.({ from: "2026-01-01", to: "2026-11-20" }, io);
    expect(old?.unavailable.length).toBe(7);
  });
});

describe("what is told when it is scheduled", () => {
  it("counts no address with an at for a person", async () => {
    const stage = await openOne();
    const caption = Array.from({ length: 21 }, (_, n) => `me${n}@a.example &#38;`).join(" ");
    const wanted = { accountId: stage.account.id, caption, mediaUrl: PHOTO_URL, dryRun: true };
    expect((await schedulePost(callOf(stage.ctx), wanted)).post.caption).toBe(caption);
  });
});
