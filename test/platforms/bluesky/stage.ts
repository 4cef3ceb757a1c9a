import { createBlueskyWorld } from "../../support/bluesky.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { PHOTO, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { startPds, type TestPds } from "../../support/pds.ts";

/** One real server for all stages. */
let pds: Promise<TestPds> | undefined;

export default {
  async openStage(platform) {
    pds ??= startPds();
    const server = await pds;
    const world = await createBlueskyWorld({
      baseUrl: server.url,
      overrides: { platforms: new Map([[platform.name, platform]]) },
    });
    world.media.set(PHOTO_URL, PHOTO);
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
  async close() {
    const running = pds;
    // The next file of this process starts another one.
    pds = undefined;
    await (await running)?.[Symbol.asyncDispose]();
  },
} satisfies PlatformFixture;
