import { expectAskedRightly } from "../../support/contract/ends.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { FakeClock } from "../../support/clock.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { createFakeNostr, FILES, NSEC, RELAYS, SECRET } from "./fake.ts";

export const PLATFORM_SETTINGS = {
  POSTHORN_NOSTR_RELAYS: RELAYS.join(" "),
  POSTHORN_NOSTR_BLOSSOM_URL: FILES,
};

export async function openNostr(platform: AnyPlatform) {
  const clock = new FakeClock();
  const nostr = createFakeNostr(clock);
  const ctx = await createTestContext({
    clock,
    platformList: [platform],
    outbound: nostr.outbound,
    sockets: nostr.sockets,
    media: createStageMedia(),
    feed: {} as never,
    settings: {
      timezone: "UTC",
      maxLatenessMs: 3_600_000,
      uploadFolders: [],
      platformSettings: PLATFORM_SETTINGS,
    },
  });
  return {
    ctx,
    nostr,
    account: await connectOn(callOf(ctx), { provider: "nostr", secrets: { nsec: NSEC } }),
    wrong: nostr.state.wrong,
    published: async () => nostr.posts().length,
    captions: async () => nostr.posts().map(({ content }) => content),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      expectAskedRightly(nostr.state);
      for (const secret of [NSEC, SECRET])
        if (ctx.log.text().includes(secret)) throw new Error("The private key is in the log.");
    },
  };
}

export default {
  openStage: openNostr,
  post: {
    caption: "A horn #Brass",
    media_url: PHOTO_URL,
    metadata: {
      ...PICTURES,
      tags: ["Music"],
      spoilerText: "Loud",
      thread: [
        { caption: "It goes on", mediaUrl: PHOTO_URL, altText: "A horn again" },
        { caption: "and ends" },
      ],
    },
  },
  otherPosts: {
    "a text": { caption: "A horn", media_url: "", metadata: { language: "en-GB" } },
    "a picture": {
      caption: "A horn",
      media_url: PHOTO_URL,
      metadata: { altText: "A\nhorn", sensitive: true },
    },
    "a film": { caption: "A horn", media_url: CLIP_URL, metadata: { thumbnailUrl: PHOTO_URL } },
    "a picture for apps of pictures": {
      caption: "A horn",
      media_url: PHOTO_URL,
      metadata: { ...PICTURES, format: "picture", title: "Horn" },
    },
    "a film for apps of films": {
      caption: "A horn",
      media_url: CLIP_URL,
      metadata: { format: "video", title: "Horn", thumbnailUrl: PHOTO_URL, altText: "A horn" },
    },
    "an article": {
      caption: "# A horn\n\nIt is long.",
      media_url: "",
      metadata: {
        format: "article",
        title: "Horn",
        description: "On horns",
        thumbnailUrl: PHOTO_URL,
        tags: ["brass"],
      },
    },
  },
  // A key does not end.
  refusesToken: null,
  needed: { "where the file is, and whether it came whole": ["url", "sha256"] },
} satisfies PlatformFixture;
