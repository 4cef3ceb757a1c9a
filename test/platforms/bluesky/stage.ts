import { createBlueskyWorld } from "../../support/bluesky.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import {
  CLIP,
  CLIP_URL,
  PHOTO,
  PHOTO_URL,
  PICTURES,
  SUBTITLES,
  SUBTITLES_URL,
} from "../../support/contract/stage-media.ts";
import { startPds } from "../../support/pds.ts";

export default {
  async openStage(platform) {
    const server = await startPds();
    const world = await createBlueskyWorld({
      baseUrl: server.url,
      overrides: { platforms: new Map([[platform.name, platform]]) },
    });
    world.media.set(PHOTO_URL, PHOTO).set(CLIP_URL, CLIP).set(SUBTITLES_URL, SUBTITLES);
    const user = await server.createUser();
    // A thread is one post of ours.
    const heads = async () => (await user.records()).filter(({ value }) => value["reply"] === undefined);
    return {
      ctx: world.ctx,
      account: await world.connect(user),
      published: async () => (await heads()).length,
      captions: async () => (await heads()).map(({ value }) => String(value["text"])),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, thread: [{ caption: "And more", mediaUrl: PHOTO_URL }] },
  },
  otherPosts: {
    "a film with subtitles": {
      caption: "A film",
      media_url: CLIP_URL,
      metadata: { subtitles: [{ url: SUBTITLES_URL, language: "en" }], presentation: "gif" },
    },
  },
} satisfies PlatformFixture;
