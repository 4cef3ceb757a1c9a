import { Readable } from "node:stream";
import type { PlatformFixture, Trouble } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { render } from "./fake.ts";
import { createDiscordWorld } from "./world.ts";

function says(status: number, body: object): Trouble {
  return async () => ({
    status,
    headers: {},
    url: "",
    body: Readable.from([Buffer.from(JSON.stringify(body))]),
  });
}

export default {
  async openStage(platform) {
    const world = await createDiscordWorld(platform);
    const account = await world.connectBot();
    const { state } = world;
    return {
      ctx: world.ctx,
      account,
      published: async () => state.messages.length,
      captions: async () => state.messages.map(({ content }) => render(content)),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  },
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, sensitive: true, silent: true },
  },
  otherPosts: {
    "a text": { caption: "A horn", media_url: "", metadata: { linkPreview: false } },
    "a film": { caption: "A horn", media_url: CLIP_URL, metadata: {} },
  },
  troubles: {
    "meets a limit": says(429, { message: "You are being rate limited.", retry_after: 0.65, global: false }),
    "meets a broken server": says(503, { code: 130000, message: "API resource is currently overloaded" }),
  },
  refusesToken: says(401, { code: 0, message: "401: Unauthorized" }),
} satisfies PlatformFixture;
