import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { APP } from "./spec.ts";
import { toResponse } from "./fake-http.ts";
import { openPage, type PageWorld } from "./world.ts";

let world: PageWorld;

beforeEach(async () => {
  world = await openPage();
});

afterEach(() => world[Symbol.asyncDispose]());

const add = (post: object) => addPost(world.ctx, world.account, post);

const refuse = (status: number, error: object) => toResponse(status, { error: { message: "No", ...error } });

describe("what Facebook refuses", () => {
  it("adopts its own post where lists told of it too late, and the repetition is a duplicate", async () => {
    const { fake, ctx } = world;
    const { id } = await add({ caption: "Slow" });
    let posted = 0;
    fake.answers = ({ method, url }) => {
      if (method === "POST" && posted++ === 0) {
        fake.posts.addPost({ given: { message: "Slow", published: true } } as never, APP.id);
        return toResponse(500, {});
      }
      return posted === 1 && url.pathname.endsWith("_posts") ? toResponse(200, { data: [] }) : null;
    };
    const row = await finish(ctx, id);
    expect(row).toMatchObject({ status: "published", platform_post_id: [...fake.posts.posts.keys()][0] });
    expect([posted, fake.visible()]).toEqual([2, ["Slow"]]);
  });

  it("adopts its own post when a repetition is called a duplicate, and fails a first one", async () => {
    const { fake, ctx } = world;
    const first = await add({ caption: "Same" });
    expect(await finish(ctx, first.id)).toMatchObject({ status: "published" });
    const second = await add({ caption: "Same" });
    expect(await finish(ctx, second.id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/duplicate of a post/),
    });
    expect(fake.posts.posts.size).toBe(1);
  });

  it("fails a film that cannot be processed with Facebook's reason", async () => {
    const { fake, ctx } = world;
    fake.films.failsWith = 1_363_040;
    const { id } = await add({ media_url: CLIP_URL });
    expect(await finish(ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/shape 9:16/),
    });
  });

  it("warns of a first comment and a thumbnail that are refused, and keeps the post and the channel", async () => {
    const { fake, ctx, account } = world;
    fake.answers = ({ method, url }) =>
      method === "POST" && /\/(comments|thumbnails)$/.test(url.pathname) ? refuse(403, { code: 200 }) : null;
    const metadata = JSON.stringify({ firstComment: "First", thumbnailUrl: PHOTO_URL });
    const row = await finish(ctx, (await add({ media_url: CLIP_URL, metadata })).id);
    expect(row).toMatchObject({ status: "published", error: null });
    expect(JSON.parse(row.warnings ?? "[]")).toEqual([
      expect.stringMatching(/^The thumbnail did not go through: /),
      expect.stringMatching(/^The first comment did not go through: .*pages_manage_engagement/),
    ]);
    const next = await add({ caption: "Next" });
    expect(await finish(ctx, next.id)).toMatchObject({ status: "published", account_id: account.id });
  });
});

describe("what is refused before", () => {
  it("refuses a film among pictures when it looks at them", async () => {
    const metadata = JSON.stringify({ moreMedia: [{ url: CLIP_URL }] });
    const { id } = await add({ media_url: PHOTO_URL, metadata });
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/a video on Facebook goes without other media/),
    });
    expect(world.fake.log).toEqual([]);
  });
});
