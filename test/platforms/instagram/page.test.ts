import { afterEach, describe, expect, it } from "vitest";
import instagram from "../../../src/platforms/instagram/index.ts";
import { DAY } from "../../../src/domain/time.ts";
import { capabilitiesFor } from "../../../src/channels/platform-io/connect-io.ts";
import { showAccount } from "../../../src/channels/accounts/accounts.ts";
import { cancelPost, readInsights } from "../../../src/posts/posts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP, CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { contentOf } from "../../support/contract/stage.ts";
import { testPublishing } from "../../support/contract/test-publishing.ts";
import { addPost, drain } from "../../support/publishing.ts";
import fixture, { openPageStage } from "./page-stage.ts";
import { openStage, type InstagramStage } from "./stage.ts";

describe("instagram through a Page, publishing", () => testPublishing(instagram, fixture));

const open: InstagramStage[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) {
    expect(one.instagram.door.wrong).toEqual([]);
    await one[Symbol.asyncDispose]();
  }
});

async function openOne(openIt = openPageStage): Promise<InstagramStage> {
  const stage = await openIt(instagram);
  open.push(stage);
  return stage;
}

const reel = contentOf({ caption: "It sounds", media_url: CLIP_URL, metadata: {} });

const uploads = ({ instagram: { door } }: InstagramStage) =>
  door.sent.filter(({ path }) => path.includes("ig-api-upload")).map(({ fields }) => fields["offset"]);

const begun = ({ instagram: { shelf } }: InstagramStage) => [...shelf.containers.values()];

describe("numbers of a story", () => {
  it.each([
    ["through a Page, with taps on its links", openPageStage, 14],
    ["by Instagram's own login, without", openStage, null],
  ])("%s", async (_, openIt, clicks) => {
    const stage = await openOne(openIt);
    const story = contentOf({ caption: "", media_url: PHOTO_URL, metadata: { story: true } });
    const { id } = await addPost(stage.ctx, stage.account, story);
    const row = await finish(stage.ctx, id);
    const { metrics } = await readInsights(stage.ctx, row);
    expect(metrics).toMatchObject({ views: 10, reach: 11, comments: 12, shares: 13, clicks });
  });
});

describe("a film that nobody can fetch", () => {
  it("is sent whole, into one container", async () => {
    const stage = await openOne();
    const { id } = await addPost(stage.ctx, stage.account, reel);
    expect(await finish(stage.ctx, id)).toMatchObject({ status: "published", warnings: null });
    const [held, ...more] = begun(stage);
    expect(more).toEqual([]);
    expect(held?.fields).toMatchObject({ media_type: "REELS", upload_type: "resumable" });
    expect(held?.fields).not.toHaveProperty("video_url");
    expect(held?.sent.equals(CLIP.bytes)).toBe(true);
    expect(uploads(stage)).toEqual(["0"]);
  });

  it("goes on where the upload broke off", async () => {
    const stage = await openOne();
    stage.instagram.state.cutAfter = 700;
    const { id } = await addPost(stage.ctx, stage.account, reel);
    expect((await finish(stage.ctx, id)).status).toBe("published");
    expect(uploads(stage)).toEqual(["0", "700"]);
    expect(begun(stage)).toHaveLength(1);
    expect(begun(stage)[0]?.sent.equals(CLIP.bytes)).toBe(true);
  });

  it("begins anew where Instagram does not tell how far it is", async () => {
    const stage = await openOne();
    stage.instagram.state.cutAfter = 700;
    stage.instagram.state.unknownField = "video_status";
    const { id } = await addPost(stage.ctx, stage.account, reel);
    expect(await finish(stage.ctx, id)).toMatchObject({ status: "published", error: null });
    expect(uploads(stage)).toEqual(["0", "0"]);
    expect(await stage.published()).toBe(1);
  });

  it("begins anew where its container ran out in the middle", async () => {
    const stage = await openOne();
    stage.instagram.state.cutAfter = 700;
    const { ctx, account } = stage;
    Object.assign(ctx.settings, { maxLatenessMs: 2 * DAY });
    const { id } = await addPost(ctx, account, { ...reel, scheduled_at: ctx.clock.now() });
    await drain(ctx);
    await ctx.clock.advance(DAY);
    await finish(ctx, id);
    expect(begun(stage).map(({ sent }) => sent.length)).toEqual([700, CLIP.bytes.length]);
    expect(uploads(stage)).toEqual(["0", "0"]);
    expect(await stage.published()).toBe(1);
  });

  it("is no reason to refuse a post, unlike a picture, or a film by Instagram's own login", async () => {
    const fetched = async (stage: Promise<InstagramStage>) => {
      const { ctx, account } = await stage;
      return capabilitiesFor(ctx, account, null).fetchesMedia;
    };
    expect(await fetched(openOne())).toEqual(["image"]);
    expect(await fetched(openOne(openStage))).toEqual(["image", "video"]);
  });
});

describe("a live post", () => {
  it("is told to be deletable only through a Page", async () => {
    const told = async (stage: Promise<InstagramStage>) => {
      const { ctx, account } = await stage;
      return (await showAccount(ctx, ctx.store, account)).capabilities.remove;
    };
    expect(await told(openOne())).toEqual({ uploaded: false, published: true });
    expect(await told(openOne(openStage))).toEqual({ uploaded: false, published: false });
  });

  it("is deleted only through a Page, and the refusal names the way out", async () => {
    const own = await openOne(openStage);
    const { id } = await addPost(own.ctx, own.account, reel);
    await finish(own.ctx, id);
    const asked = cancelPost(callOf(own.ctx), { id, fromPlatform: true });
    await expect(asked).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /^Instagram lets no app delete a post of a channel that is connected in this way\. A person deletes it at https:/,
      ),
    });
    expect(await own.published()).toBe(1);
  });

  it("stays where the permission is missing, which the refusal names", async () => {
    const stage = await openOne();
    const { id } = await addPost(stage.ctx, stage.account, reel);
    await finish(stage.ctx, id);
    stage.instagram.state.refusesDeleting = true;
    await expect(cancelPost(callOf(stage.ctx), { id, fromPlatform: true })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("instagram_manage_contents"),
    });
    expect(await stage.published()).toBe(1);
  });
});
