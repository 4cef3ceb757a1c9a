import { afterEach, describe, expect, it } from "vitest";
import threads from "../../../src/platforms/threads/index.ts";
import { measure } from "../../../src/platforms/threads/metadata.ts";
import { DAY } from "../../../src/domain/time.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { renewDueGrants } from "../../../src/channels/connecting/renewal.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { contentOf, type StagePost } from "../../support/contract/stage.ts";
import { addPost } from "../../support/publishing.ts";
import { connectByConsent, PNG_URL } from "../instagram/stage-kit.ts";
import { USER_ID } from "./fake.ts";
import { openStage, openThreads, type ThreadsStage } from "./stage.ts";

const open: ThreadsStage[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) {
    expect(one.threads.door.wrong).toEqual([]);
    await one[Symbol.asyncDispose]();
  }
});

async function openOne(): Promise<ThreadsStage> {
  const stage = await openStage(threads);
  open.push(stage);
  return stage;
}

const words: StagePost = { caption: "A horn", media_url: "", metadata: {} };

async function post(stage: ThreadsStage, content: Partial<StagePost> = {}) {
  const { id } = await addPost(stage.ctx, stage.account, contentOf({ ...words, ...content }));
  return finish(stage.ctx, id);
}

it("is connected under the account's own id, and renewed weekly", async () => {
  const { ctx, account, threads: fake } = await openOne();
  expect(account).toMatchObject({
    platform_account_id: USER_ID,
    handle: "hornblower",
    profile_url: "https://www.threads.net/@hornblower",
    status: "connected",
  });
  await ctx.clock.advance(6 * DAY);
  await renewDueGrants(ctx, AbortSignal.timeout(10_000));
  const row = await findAccountRow(ctx.store, account.owner_id, account.id);
  expect(row?.access_ends_at).toBe(ctx.clock.now() + 5_183_944_000);
  expect(fake.tokens.tokens.size).toBe(3);
  expect(ctx.log.text()).not.toContain("canary");
});

it("is not connected where the person said no", async () => {
  const { ctx } = await openThreads(threads);
  const agree = (url: string): string => {
    const { searchParams } = new URL(url);
    return `${searchParams.get("redirect_uri")}?error=access_denied&error_reason=user_denied&state=${searchParams.get("state")}`;
  };
  await expect(connectByConsent(ctx, { provider: "threads", agree })).rejects.toThrow(
    "permission was refused",
  );
  await ctx[Symbol.asyncDispose]();
});

describe("what goes to Threads", () => {
  it("is a text with what belongs to it", async () => {
    const stage = await openOne();
    const metadata = {
      link: "https://posthorn.example/news",
      topicTag: "#Horns and more",
      replyControl: "mentioned_only",
      quotePostId: "18049900000000000",
    };
    const row = await post(stage, { metadata });
    const [shown] = stage.threads.shelf.posts;
    expect(shown?.fields).toEqual({
      media_type: "TEXT",
      text: "A horn",
      link_attachment: "https://posthorn.example/news",
      topic_tag: "Horns and more",
      reply_control: "mentioned_only",
      quote_post_id: "18049900000000000",
    });
    expect(row).toMatchObject({
      platform_post_id: shown?.id,
      platform_url: `https://www.threads.net/@hornblower/post/D${shown?.id.slice(-6)}`,
    });
  });

  it("is an album of films and pictures in their order, a PNG as it is", async () => {
    const stage = await openOne();
    const moreMedia = [{ url: CLIP_URL, altText: "It sounds" }, { url: PNG_URL }];
    const row = await post(stage, { media_url: PHOTO_URL, metadata: { moreMedia, sensitive: true } });
    expect(row).toMatchObject({ status: "published" });
    const { containers, posts } = stage.threads.shelf;
    expect(posts[0]?.fields).toMatchObject({ media_type: "CAROUSEL", is_spoiler_media: "true" });
    const children = posts[0]?.fields["children"]?.split(",") ?? [];
    expect(children.map((id) => containers.get(id)?.fields)).toEqual([
      { is_carousel_item: "true", media_type: "IMAGE", image_url: PHOTO_URL },
      { is_carousel_item: "true", media_type: "VIDEO", video_url: CLIP_URL, alt_text: "It sounds" },
      { is_carousel_item: "true", media_type: "IMAGE", image_url: new URL(PNG_URL).href },
    ]);
  });

  it("is a thread, each post a reply to the one before", async () => {
    const stage = await openOne();
    const thread = [{ caption: "Two", mediaUrl: CLIP_URL }, { caption: "Three" }];
    const row = await post(stage, { metadata: { thread } });
    expect(row).toMatchObject({ status: "published", warnings: null });
    const { posts } = stage.threads.shelf;
    expect(posts.map(({ fields }) => [fields["text"], fields["reply_to_id"]])).toEqual([
      ["A horn", undefined],
      ["Two", posts[0]?.id],
      ["Three", posts[1]?.id],
    ]);
    const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
    const results = await readStepResults(stage.ctx, row);
    await threads.remove?.(toPlatformPost(threads, row), { ...io, ...results });
    expect(posts.every(({ isDeleted }) => isDeleted)).toBe(true);
  });
});

describe("what Threads refuses", () => {
  it("of a thread leaves the first post published", async () => {
    const stage = await openOne();
    stage.threads.state.refusesReplies = true;
    const row = await post(stage, { metadata: { thread: [{ caption: "Two" }] } });
    expect(row).toMatchObject({ status: "published", error: null });
    expect(JSON.parse(row.warnings ?? "[]")).toEqual([
      expect.stringMatching(/^The rest of the thread did not go/),
    ]);
  });

  it.each([
    ["INVALID_BIT_RATE", 9, 1, "failed", /^mediaUrl: .*INVALID_BIT_RATE/],
    ["FAILED_DOWNLOADING_VIDEO", 2, 3, "published", null],
    ["UNKNOWN", 99, 4, "failed", /^mediaUrl: .*\(UNKNOWN\).*POSTHORN_PUBLIC_URL.*send the post again\.$/],
  ])("of media ends the post or is tried anew: %s", async (status, times, containers, ended, error) => {
    const stage = await openOne();
    stage.threads.shelf.state.failing = { status, times };
    const row = await post(stage, { media_url: CLIP_URL });
    expect(row.status).toBe(ended);
    if (error !== null) expect(row.error).toMatch(error);
    expect(stage.threads.shelf.containers.size).toBe(containers);
  });

  it("of media that it did not fetch at once is tried anew a few times", async () => {
    const stage = await openOne();
    stage.threads.state.unfetched = 2;
    expect(await post(stage, { media_url: CLIP_URL })).toMatchObject({ status: "published", error: null });
    stage.threads.state.unfetched = 99;
    expect(await post(stage, { media_url: CLIP_URL })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^mediaUrl: Threads could not fetch the media\./),
    });
    expect(stage.threads.state.unfetched).toBe(95);
  });

  it("is held back by the quota that the account told of", async () => {
    const stage = await openOne();
    stage.threads.state.quota = 1;
    expect(await post(stage)).toMatchObject({ status: "published" });
    await inspectAccount(stage.ctx, stage.account);
    expect(await post(stage)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("which takes 1"),
    });
  });
});

describe("numbers", () => {
  it("of a post", async () => {
    const stage = await openOne();
    const row = await post(stage);
    const { metrics } = await readInsights(stage.ctx, row);
    expect(metrics).toMatchObject({ views: 10, likes: 11, comments: 12, shares: 42, saves: null });
    stage.threads.state.insightsCode = 10;
    expect(await readInsights(stage.ctx, row)).toMatchObject({ state: "live", metrics: { views: null } });
  });

  it("of the account", async () => {
    const stage = await openOne();
    const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
    expect(await threads.analytics?.({ from: "2026-11-19", to: "2026-11-20" }, io)).toEqual({
      totals: { followers: 7, views: 10, likes: 7, comments: 7, shares: 14, clicks: 2 },
      days: [
        { date: "2026-11-19", metrics: { views: 5 } },
        { date: "2026-11-20", metrics: { views: 5 } },
      ],
      unavailable: [],
    });
  });
});

describe("a text is counted as Threads counts", () => {
  it.each([
    ["abc", 3],
    ["Grüße שלום 日本語", 14],
    ["🎺", 4],
    ["👩‍👩‍👧", 18],
    ["🇩🇪", 8],
    ["1️⃣", 7],
    ["a🎺b", 6],
  ])("%s", (text, length) => {
    expect(measure(text)).toBe(length);
  });
});

it("asks in the first post, and shows a longer text behind a card", async () => {
  await using stage = await openStage(threads);
  const { ctx, account } = stage;
  const poll = { options: ["Yes", "No", "\u201cMaybe\u201d"], hours: 24 };
  for (const metadata of [{ poll, thread: [{ caption: "More" }] }, { longText: "Long" }]) {
    const post = {
      caption: `Which? ${Object.keys(metadata)[0]}`,
      media_url: "",
      metadata: JSON.stringify(metadata),
    };
    const { id } = await addPost(ctx, account, post);
    expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null, warnings: null });
  }
  const fields = stage.threads.shelf.posts.map((one) => one.fields);
  expect(fields.map((one) => [one["poll_attachment"], one["text_attachment"]])).toEqual([
    [JSON.stringify({ option_a: "Yes", option_b: "No", option_c: "\u201cMaybe\u201d" }), undefined],
    [undefined, undefined],
    [undefined, JSON.stringify({ plaintext: "Long" })],
  ]);
});
