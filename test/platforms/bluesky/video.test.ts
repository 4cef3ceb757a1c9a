import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { FakeClock } from "../../support/clock.ts";
import { createBlueskyWorld, type BlueskyWorld } from "../../support/bluesky.ts";
import { startLosingProxy } from "../../support/losing-proxy.ts";
import { SUBTITLES, SUBTITLES_URL } from "../../support/contract/stage-media.ts";
import { startPds, type PdsUser, type TestPds } from "../../support/pds.ts";
import { startVideoService } from "../../support/video-service.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";

let pds: TestPds;
let clip: Buffer;
beforeAll(async () => {
  pds = await startPds();
  clip = await readFile(new URL("../../fixtures/clip.mp4", import.meta.url));
});

function worldWith(videoUrl: string, baseUrl = pds.url): Promise<BlueskyWorld> {
  // The server compares the end of its tokens for others with its own clock.
  const clock = new FakeClock(new Date().toISOString());
  return createBlueskyWorld({
    baseUrl,
    settings: { POSTHORN_BLUESKY_VIDEO_URL: videoUrl },
    overrides: { clock },
  });
}

async function publishClip(world: BlueskyWorld): Promise<{ user: PdsUser; post: PostRow }> {
  // Bytes of its own for each test: the service knows a video by them.
  const bytes = Buffer.concat([clip, Buffer.from(String(Math.random()))]);
  world.media.set("https://m.example/clip", { bytes, mimeType: "video/mp4", width: 320, height: 240 });
  const user = await pds.createUser();
  const account = await world.connect(user);
  return {
    user,
    post: await world.publish(account, {
      caption: "Moving",
      mediaUrl: "https://m.example/clip",
      metadata: { altText: "A clip" },
    }),
  };
}

const EMBED = {
  $type: "app.bsky.embed.video",
  alt: "A clip",
  aspectRatio: { width: 320, height: 240 },
  video: { $type: "blob", mimeType: "video/mp4" },
};

describe("the video service", () => {
  it.each([[false], [true]])(
    "processes the video before the post is written (bare answers: %s)",
    async (isBare) => {
      await using video = await startVideoService(pds.url, { polls: 3, isBare });
      await using world = await worldWith(video.url);
      const { user, post } = await publishClip(world);
      expect(post).toMatchObject({ status: "published", error: null });
      expect((await user.records()).map(({ value }) => value["embed"])).toMatchObject([EMBED]);
      expect(video.uploads).toHaveLength(1);
      expect(video.polls).toBe(3);
    },
  );

  it("is sent the video again when its answer was lost, and names the first job", async () => {
    await using video = await startVideoService(pds.url, { polls: 2 });
    await using proxy = await startLosingProxy(video.url);
    await using world = await worldWith(proxy.url);
    proxy.fail("uploadVideo", "lose_answer");
    proxy.fail("getJobStatus", "garbage");
    const { user, post } = await publishClip(world);
    expect(post).toMatchObject({ status: "published", error: null });
    expect(video.uploads).toHaveLength(2);
    expect(await user.records()).toHaveLength(1);
  });

  it("is cut midway and gets the whole video after all", async () => {
    await using video = await startVideoService(pds.url, { polls: 1 });
    await using proxy = await startLosingProxy(video.url);
    await using world = await worldWith(proxy.url);
    proxy.fail("uploadVideo", "cut_upload");
    const { user, post } = await publishClip(world);
    expect(post).toMatchObject({ status: "published", error: null });
    expect(await user.records()).toHaveLength(1);
  });

  it.each([
    [{ status: 401, error: "unconfirmed_email" }, "confirmed e-mail"],
    [{ status: 401, error: "AuthMissing" }, "refused the account"],
    [{ status: 400, error: "InvalidRequest" }, "InvalidRequest"],
  ])("refuses with %j: the post fails, the channel stays connected", async (refusal, sentence) => {
    await using video = await startVideoService(pds.url, { polls: 1 });
    video.refusal = refusal;
    await using world = await worldWith(video.url);
    const { user, post } = await publishClip(world);
    expect(post).toMatchObject({ status: "failed", in_doubt: 0 });
    expect(post.error).toContain(sentence);
    expect(await world.readAccount(post.account_id)).toMatchObject({ status: "connected" });
    expect(await user.records()).toEqual([]);
  });

  it("cannot process the video: the post fails and says so", async () => {
    await using video = await startVideoService(pds.url, { polls: 2 });
    video.failure = "encoding_failure";
    await using world = await worldWith(video.url);
    const { post } = await publishClip(world);
    expect(post).toMatchObject({ status: "failed", in_doubt: 0 });
    expect(post.error).toContain("could not process the video (encoding_failure)");
  });

  it("gives the video anew when the server dropped it before the post was written", async () => {
    await using video = await startVideoService(pds.url, { polls: 1 });
    await using proxy = await startLosingProxy(pds.url);
    await using world = await worldWith(video.url, proxy.url);
    proxy.fail("applyWrites", {
      status: 400,
      when: "before",
      body: { error: "BlobNotFound", message: "Could not find blob" },
    });
    const { user, post } = await publishClip(world);
    expect(post).toMatchObject({ status: "published", error: null });
    expect(await user.records()).toHaveLength(1);
  });

  it("shows a film that was made of a GIF as one, unless it is told otherwise", async () => {
    await using video = await startVideoService(pds.url, { polls: 1 });
    await using world = await worldWith(video.url);
    const { media } = world.ctx;
    const forPost = media.forPost.bind(media);
    media.forPost = (owner, signal) => {
      const inner = forPost(owner, signal);
      return {
        ...inner,
        item: async (url, altText) => ({ ...(await inner.item(url, altText)), convertedFrom: "image/gif" }),
      };
    };
    const user = await pds.createUser();
    const account = await world.connect(user);
    for (const metadata of [{}, { presentation: "default" }]) {
      const bytes = Buffer.concat([clip, Buffer.from(JSON.stringify(metadata))]);
      world.media.set("https://m.example/clip", { bytes, mimeType: "video/mp4" });
      await world.publish(account, { mediaUrl: "https://m.example/clip", metadata });
    }
    const shown = (await user.records()).map(({ value }) => (value["embed"] as any).presentation);
    expect(shown.sort()).toEqual(["default", "gif"]);
  });

  it("shows the film with its subtitles, and as a GIF", async () => {
    await using video = await startVideoService(pds.url, { polls: 1 });
    await using world = await worldWith(video.url);
    world.media
      .set("https://m.example/clip", {
        bytes: Buffer.concat([clip, Buffer.from("s")]),
        mimeType: "video/mp4",
      })
      .set(SUBTITLES_URL, SUBTITLES);
    const user = await pds.createUser();
    const post = await world.publish(await world.connect(user), {
      mediaUrl: "https://m.example/clip",
      metadata: {
        subtitles: [
          { url: SUBTITLES_URL, language: "en" },
          { url: SUBTITLES_URL, language: "pt-BR" },
        ],
        presentation: "gif",
      },
    });
    expect(post).toMatchObject({ status: "published", error: null });
    const file = { $type: "blob", mimeType: "text/vtt" };
    expect((await user.records()).map(({ value }) => value["embed"])).toMatchObject([
      {
        captions: [
          { lang: "en", file },
          { lang: "pt-BR", file },
        ],
        presentation: "gif",
      },
    ]);
  });
});
