import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { finish } from "../../support/contract/ends.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { USER } from "./fake.ts";
import { createWorld, type World } from "./world.ts";

const isPost = ({ method, url }: OutboundRequest): boolean => method === "POST" && url.endsWith("/2/tweets");

/** The door, which loses the answers to the first so many posts: that were acted on, or not. */
function losing({ fake }: World, kinds: readonly ("after" | "before")[]): Outbound & { posts: number } {
  const door = {
    posts: 0,
    assertAllowed: (field: string, url: string) => fake.assertAllowed(field, url),
    async request(request: OutboundRequest) {
      const kind = isPost(request) ? kinds[door.posts++] : undefined;
      if (kind !== "before") {
        const answer = await fake.request(request);
        if (kind === undefined) return answer;
      }
      if (request.body instanceof Readable) request.body.destroy();
      throw new OutboundFailure("The answer broke off.", true);
    },
  };
  return door;
}

describe("a post whose answer was lost", () => {
  it.each([
    ["addresses and signs", "See example.com & <https://example.org/a?b=1> 👩‍👩‍👧\n\nEnd.", ""],
    ["white space", "  A  horn\r\nand more ", ""],
    ["signs that patterns mean something by", "(a|b)* [c] {d} $5.00 ^\\ +-/?", ""],
    ["more than 280 characters", `Long ${"horn ".repeat(200)} example.com`, ""],
    ["a picture and nothing else", "", PHOTO_URL],
    ["a picture and words", "Look: example.com", PHOTO_URL],
  ])("is found among the channel's own, with %s", async (_what, caption, mediaUrl) => {
    await using world = await createWorld();
    world.fake.user = { subscription_type: "Premium" };
    const account = await world.connect();
    const outbound = losing(world, ["after"]);
    const { id } = await addPost(world.ctx, account, { caption, media_url: mediaUrl });
    const post = await finish(world.ctx, id, { ...world.ctx, outbound });
    const [live] = world.fake.posts.heads;
    expect(post).toMatchObject({
      status: "published",
      platform_post_id: live?.id,
      platform_url: `https://x.com/${USER.username}/status/${live?.id}`,
    });
    expect([outbound.posts, world.fake.posts.all.length]).toEqual([1, 1]);
    // It costs what it needs: the one post.
    expect(world.fake.posts.read).toBe(1);
  });

  it("is not taken for another one of the same moment", async () => {
    await using world = await createWorld();
    const account = await world.connect();
    world.fake.posts.lagMs = 0;
    world.fake.posts.create({ text: "New: https://example.com/a" }, false);
    const outbound = losing(world, ["before"]);
    const { id } = await addPost(world.ctx, account, { caption: "New: https://example.com/b" });
    await finish(world.ctx, id, { ...world.ctx, outbound });
    expect(world.fake.posts.heads.map(({ text }) => text)).toEqual([
      "New: https://example.com/a",
      "New: https://example.com/b",
    ]);
  });

  it("is sent again only after two listings a minute apart", async () => {
    await using world = await createWorld();
    const startedAt = world.ctx.clock.now();
    const outbound = losing(world, ["before"]);
    const { id } = await addPost(world.ctx, await world.connect());
    expect(await finish(world.ctx, id, { ...world.ctx, outbound })).toMatchObject({ status: "published" });
    expect(world.ctx.clock.now() - startedAt).toBeGreaterThan(60_000);
    const listings = world.fake.requests.filter((one) => one.endsWith("/tweets") && one.startsWith("GET"));
    expect([listings.length, outbound.posts, world.fake.posts.all.length]).toEqual([2, 2, 1]);
  });

  it("is settled by X's refusal of a duplicate where listings are late", async () => {
    await using world = await createWorld();
    world.fake.posts.lagMs = 100_000;
    const outbound = losing(world, ["after"]);
    const { id } = await addPost(world.ctx, await world.connect());
    const post = await finish(world.ctx, id, { ...world.ctx, outbound });
    expect(post).toMatchObject({ status: "published", platform_post_id: world.fake.posts.heads[0]?.id });
    expect([outbound.posts, world.fake.posts.all.length]).toEqual([2, 1]);
  });

  it("is an honest unknown where the duplicate cannot be found", async () => {
    await using world = await createWorld();
    const account = await world.connect();
    // Somebody's own, of long before.
    world.fake.posts.create({ text: "Hello" }, false);
    await world.ctx.clock.advance(3_600_000);
    const outbound = losing(world, ["before"]);
    const { id } = await addPost(world.ctx, account, { caption: "Hello" });
    expect(await finish(world.ctx, id, { ...world.ctx, outbound })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^outcome unknown: X refused it as a duplicate/),
    });
    expect(world.fake.posts.all).toHaveLength(1);
  });

  it("is found in a thread by what it says, not taken for the head", async () => {
    await using world = await createWorld();
    const outbound = losing(world, ["after", "after", "before"]);
    const metadata = JSON.stringify({ thread: [{ caption: "Two" }, { caption: "Three" }] });
    const { id } = await addPost(world.ctx, await world.connect(), { caption: "One", metadata });
    expect(await finish(world.ctx, id, { ...world.ctx, outbound })).toMatchObject({
      status: "published",
      warnings: null,
    });
    const { all } = world.fake.posts;
    expect(all.map(({ text }) => text)).toEqual(["One", "Two", "Three"]);
    expect(all.map(({ replyTo }) => replyTo)).toEqual([null, all[0]?.id, all[1]?.id]);
  });
});
