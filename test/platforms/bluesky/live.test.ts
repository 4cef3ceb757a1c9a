import { createServer } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import bluesky from "../../../src/platforms/bluesky/index.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { DAY, MINUTE } from "../../../src/domain/time.ts";
import { collectResults } from "../../../src/reporting/results/collect.ts";
import { queryOf } from "../../support/handles.ts";
import type { PlatformIo } from "../../../src/ports/platform-io.ts";
import type { PublishIo } from "../../../src/ports/publish-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import type { PostRow, Tables } from "../../../src/store/schema/tables.ts";
import { createBlueskyWorld, type BlueskyWorld } from "../../support/bluesky.ts";
import { startLosingProxy } from "../../support/losing-proxy.ts";
import { startPds, type PdsUser, type TestPds } from "../../support/pds.ts";
import { listen } from "../../support/listen.ts";

let pds: TestPds;
beforeAll(async () => {
  pds = await startPds();
});

interface Live {
  readonly user: PdsUser;
  readonly account: Tables["accounts"];
  readonly row: PostRow;
}

async function published(
  world: BlueskyWorld,
  content: Parameters<BlueskyWorld["publish"]>[1],
): Promise<Live> {
  const user = await pds.createUser();
  const account = await world.connect(user);
  const row = await world.publish(account, content);
  expect(row).toMatchObject({ status: "published" });
  return { user, account, row };
}

function ioOf(world: BlueskyWorld, account: Tables["accounts"]): Promise<PlatformIo> {
  return createPlatformIo(world.ctx, account, new AbortController().signal);
}

/** Edits as the use case does; nothing of it goes through the ledger. */
async function edit(
  world: BlueskyWorld,
  { account, row }: Live,
  changes: { caption?: string; metadata?: object },
): Promise<void> {
  const before = JSON.parse(row.metadata ?? "{}");
  const metadata = { ...before, ...changes.metadata };
  const changed = [
    ...(changes.caption === undefined ? [] : ["caption"]),
    ...Object.keys(changes.metadata ?? {}),
  ];
  const post = toPlatformPost(bluesky, {
    ...row,
    caption: changes.caption ?? row.caption,
    metadata: JSON.stringify(metadata),
  });
  await bluesky.edit?.(post, changed, (await ioOf(world, account)) as PublishIo);
}

describe("changing a live post", () => {
  it("is refused unless the user asked for it, as Bluesky has no editing", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const live = await published(world, { caption: "Old" });
    const [before] = await live.user.records();
    await expect(edit(world, live, { caption: "New" })).rejects.toThrow(AppError);
    await expect(edit(world, live, { caption: "New" })).rejects.toThrow(/no editing.*allowEdit true/);
    expect(await live.user.records()).toEqual([before]);
  });

  it("replaces text and facets under the same key, and keeps its moment", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const live = await published(world, { caption: "Old #tag", metadata: { language: "en" } });
    await edit(world, live, {
      caption: "Neu https://example.com",
      metadata: { allowEdit: true, language: "de" },
    });
    const [record, ...more] = await live.user.records();
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      uri: live.row.platform_post_id,
      value: {
        text: "Neu https://example.com",
        langs: ["de"],
        createdAt: "2026-11-21T09:00:00.000Z",
        facets: [{ index: { byteStart: 4 } }],
      },
    });
  });

  it("is done once although the answer is lost", async () => {
    await using proxy = await startLosingProxy(pds.url);
    await using world = await createBlueskyWorld({ baseUrl: proxy.url });
    const live = await published(world, { caption: "Old" });
    proxy.fail("com.atproto.repo.putRecord", "lose_answer");
    await edit(world, live, { caption: "New", metadata: { allowEdit: true } });
    expect((await live.user.records())[0]?.value["text"]).toBe("New");
    expect(proxy.count("com.atproto.repo.putRecord")).toBe(1);
  });

  it("does not touch a thread, whose replies name its exact content", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const live = await published(world, { caption: "Old", metadata: { thread: [{ caption: "Second" }] } });
    await expect(edit(world, live, { caption: "New", metadata: { allowEdit: true } })).rejects.toThrow(
      /thread/,
    );
  });

  it("sets and lifts who may reply and quote without being asked twice", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const live = await published(world, { caption: "Talk" });
    await edit(world, live, { metadata: { replyRules: "nobody", allowQuotes: false } });
    expect((await live.user.records("app.bsky.feed.threadgate"))[0]?.value).toMatchObject({
      post: live.row.platform_post_id,
      allow: [],
    });
    expect(await live.user.records("app.bsky.feed.postgate")).toHaveLength(1);
    await edit(world, live, { metadata: { replyRules: "everybody", allowQuotes: true } });
    expect(await live.user.records("app.bsky.feed.threadgate")).toEqual([]);
    expect(await live.user.records("app.bsky.feed.postgate")).toEqual([]);
    expect((await live.user.records())[0]?.value["text"]).toBe("Talk");
  });
});

describe("deleting", () => {
  it("takes the whole thread, and again is no error", async () => {
    await using world = await createBlueskyWorld({ baseUrl: pds.url });
    const { user, account, row } = await published(world, {
      caption: "1",
      metadata: { thread: [{ caption: "2" }, { caption: "3" }], replyRules: "nobody" },
    });
    const other = await world.publish(account, { caption: "stays" });
    const io = await ioOf(world, account);
    for (let times = 0; times < 2; times += 1) await bluesky.remove?.(toPlatformPost(bluesky, row), io);
    expect((await user.records()).map(({ uri }) => uri)).toEqual([other.platform_post_id]);
    expect(await user.records("app.bsky.feed.threadgate")).toEqual([]);
  });
});

/** Answers as Bluesky's public index does. */
async function startIndex(
  answers: Record<string, (query: URLSearchParams) => object>,
): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://index");
    const answer = answers[url.pathname.replace("/xrpc/", "")]?.(url.searchParams);
    response.writeHead(answer === undefined ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { error: "InternalServerError" }));
  });
  const listening = await listen(server);
  return {
    url: listening.origin,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

const COUNTS = { likeCount: 5, repostCount: 2, quoteCount: 1, replyCount: 3, bookmarkCount: 0 };

describe("insights", () => {
  it("tell by the account's own server whether the post is live, and the index's counts", async () => {
    await using index = await startIndex({
      "app.bsky.feed.getPosts": (query) => ({ posts: [{ uri: query.get("uris"), ...COUNTS }] }),
    });
    await using world = await createBlueskyWorld({
      baseUrl: pds.url,
      settings: { POSTHORN_BLUESKY_APPVIEW_URL: index.url },
    });
    const { user, row } = await published(world, { caption: "Look" });
    expect(await readInsights(world.ctx, row)).toMatchObject({
      available: true,
      state: "live",
      metrics: { likes: 5, shares: 3, comments: 3, saves: 0, views: null, impressions: null },
    });
    await user.deleteRecord("app.bsky.feed.post", row.platform_post_id?.split("/").at(-1) ?? "");
    expect(await readInsights(world.ctx, row)).toMatchObject({
      available: true,
      state: "removed",
      metrics: { likes: null },
    });
  });

  it("have no counts where the index cannot be reached or is none", async () => {
    await using index = await startIndex({});
    for (const settings of [{}, { POSTHORN_BLUESKY_APPVIEW_URL: index.url }]) {
      await using world = await createBlueskyWorld({ baseUrl: pds.url, settings });
      const { row } = await published(world, { caption: "Look" });
      expect(await readInsights(world.ctx, row)).toMatchObject({
        available: true,
        state: "live",
        metrics: { likes: null, views: null },
      });
    }
  });
});

it("is written down as figures after an hour, and asked about no more once it is gone", async () => {
  await using index = await startIndex({
    "app.bsky.feed.getPosts": (query) => ({ posts: [{ uri: query.get("uris"), ...COUNTS }] }),
  });
  await using world = await createBlueskyWorld({
    baseUrl: pds.url,
    settings: { POSTHORN_BLUESKY_APPVIEW_URL: index.url },
  });
  const { user, row } = await published(world, { caption: "Look" });
  const { ctx } = world;
  const collect = async () => {
    await collectResults(ctx, new AbortController().signal);
    const db = queryOf(ctx.store);
    return db.selectFrom("results").selectAll().where("post_id", "=", row.id).executeTakeFirstOrThrow();
  };
  await ctx.clock.advance(75 * MINUTE);
  expect(await collect()).toMatchObject({ h1: ",,,5,3,3,0,", step: 1, media: "t" });
  await user.deleteRecord("app.bsky.feed.post", row.platform_post_id?.split("/").at(-1) ?? "");
  await ctx.clock.advance(DAY);
  expect(await collect()).toMatchObject({ h24: null, next_at: null });
});

describe("analytics", () => {
  const range = { from: "2026-11-01", to: "2026-11-30" };

  it("add up the reactions to the posts of the range, page by page", async () => {
    const item = (createdAt: string, more: object = {}): object => ({
      post: { uri: "at://x/y/z", ...COUNTS, record: { createdAt } },
      ...more,
    });
    const pages: Record<string, object> = {
      "": {
        cursor: "2",
        feed: [item("2026-12-01T00:00:00Z"), item("2026-11-20T10:00:00Z"), item("2026-11-20T09:00:00Z")],
      },
      "2": {
        cursor: "3",
        feed: [item("2026-11-19T00:00:00Z", { reason: { $type: "repost" } }), item("2026-11-03T00:00:00Z")],
      },
      "3": { cursor: "4", feed: [item("2026-10-01T00:00:00Z")] },
    };
    await using index = await startIndex({
      "app.bsky.actor.getProfile": () => ({ followersCount: 42, postsCount: 9 }),
      "app.bsky.feed.getAuthorFeed": (query) =>
        pages[query.get("cursor") ?? ""] ?? { feed: [], unexpected: true },
    });
    await using world = await createBlueskyWorld({
      baseUrl: pds.url,
      settings: { POSTHORN_BLUESKY_APPVIEW_URL: index.url },
    });
    const user = await pds.createUser();
    const analytics = await bluesky.analytics?.(range, await ioOf(world, await world.connect(user)));
    expect(analytics).toMatchObject({
      totals: { followers: 42, posts: 3, likes: 15, comments: 9, shares: 9 },
      days: [
        { date: "2026-11-03", metrics: { posts: 1, likes: 5 } },
        { date: "2026-11-20", metrics: { posts: 2, likes: 10, comments: 6, shares: 6 } },
      ],
    });
    expect(analytics?.unavailable.map(({ metric }) => metric)).toContain("impressions");
  });

  it("say why there are none", async () => {
    await using index = await startIndex({});
    for (const settings of [{}, { POSTHORN_BLUESKY_APPVIEW_URL: index.url }]) {
      await using world = await createBlueskyWorld({ baseUrl: pds.url, settings });
      const analytics = await bluesky.analytics?.(
        range,
        await ioOf(world, await world.connect(await pds.createUser())),
      );
      expect(analytics).toMatchObject({ totals: {}, days: [] });
      expect(analytics?.unavailable).toContainEqual({
        metric: "likes",
        reason: expect.stringContaining("index"),
      });
    }
  });
});
