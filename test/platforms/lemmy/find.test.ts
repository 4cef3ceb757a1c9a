import { describe, expect, it } from "vitest";
import lemmy from "../../../src/platforms/lemmy/index.ts";
import { OutboundFailure, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { openLemmy, type LemmyStage } from "./stage.ts";

const GIVEN = { community: "!horns@other.example", title: "A horn" };

/** A post whose answer is lost, taken or not. */
async function lose({ ctx, account }: LemmyStage, community: string, isTaken: boolean) {
  let isLost = false;
  const request = async (one: OutboundRequest) => {
    if (isLost || one.method !== "POST" || !one.url.endsWith("/post")) return ctx.outbound.request(one);
    isLost = true;
    if (isTaken) await ctx.outbound.request(one);
    throw new OutboundFailure("It broke off.", true);
  };
  const metadata = JSON.stringify({ ...GIVEN, community });
  const { id } = await addPost(ctx, account, { caption: "Lost", metadata });
  return { row: await finish(ctx, id, { ...ctx, outbound: { ...ctx.outbound, request } }) };
}

describe.each(["v3", "v4"] as const)("on %s", (version) => {
  it("finds a post whose answer was lost, below what is pinned and among many", async () => {
    await using stage = await openLemmy(lemmy, { version });
    const { ctx, fake: server } = stage;
    const { posts } = server.posts;
    const request = async (one: OutboundRequest) => {
      if (one.method !== "POST" || !one.url.endsWith("/post")) return ctx.outbound.request(one);
      await ctx.outbound.request(one);
      const own = posts.get(100);
      if (own === undefined) throw new Error("It was not posted.");
      for (let id = 1; id <= 70; id += 1) {
        const isPinned = id <= 2;
        const publishedAt = isPinned ? 0 : ctx.clock.now();
        posts.set(1_000 + id, { ...own, id: 1_000 + id, creatorId: 9, isPinned, publishedAt });
      }
      throw new OutboundFailure("It broke off.", true);
    };
    const metadata = JSON.stringify({ ...GIVEN, sensitive: true });
    const { id } = await addPost(ctx, stage.account, { caption: "Lost", metadata });
    const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
    expect(await finish(ctx, id, worker)).toMatchObject({ status: "published", platform_post_id: "100" });
    expect(server.count(`POST /api/${version}/post`)).toBe(1);
    expect(server.wrong).toEqual([]);
  });

  it("does not take a post for missing that the account's settings hide from it", async () => {
    await using stage = await openLemmy(lemmy, { version, hidesOwn: true });
    const { row } = await lose(stage, "news", true);
    expect(row).toMatchObject({ status: "published", platform_post_id: "100" });
    expect(stage.fake.count(`POST /api/${version}/post`)).toBe(1);
  });

  it.each([
    ["a server shows nothing to guests", { isPrivate: true }, "news"],
    ["a community shows nothing to guests", {}, "staff"],
  ])(
    "looks with its own eyes where %s, and leaves what it does not see to a person",
    async (_what, profile, name) => {
      for (const isTaken of [true, false]) {
        await using stage = await openLemmy(lemmy, { version, ...profile });
        const { row } = await lose(stage, name, isTaken);
        expect(row.status).toBe(isTaken ? "published" : "failed");
        if (!isTaken) expect(row.error).toMatch(/^outcome unknown: .*does not show all/);
        expect(await stage.published()).toBe(isTaken ? 1 : 0);
      }
    },
  );
});
