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
  needed: {
    "a file's reference goes into the record whole": ["blob.**"],
    "where the record is": ["uri", "cid", "results.uri", "results.cid"],
    "the record is changed as it is": ["value.**"],
  },
  isTitleApart: true,
  previews: {
    "has its title on the card of the link": {
      post: {
        caption: "a\r\nb",
        metadata: { title: "Card", link: "https://a.example/", thread: [{ caption: "c\r\nd" }] },
      },
      shown: {
        text: "a\nb",
        parts: [{ text: "c\nd", count: { length: 3, max: 300, unit: "graphemes" }, media: [] }],
        count: { length: 3, max: 300, unit: "graphemes" },
        link: "https://a.example/",
      },
    },
  },
} satisfies PlatformFixture;
