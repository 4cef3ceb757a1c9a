import farcaster from "../../../src/platforms/farcaster/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture, Stage } from "../../support/contract/stage.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { answerOf } from "../../support/described.ts";
import { addPost } from "../../support/publishing.ts";
import { createFetchedMedia } from "../instagram/stage-kit.ts";
import { API_KEY, createFakeFarcaster, QUOTED, refusal, SIGNER, type FakeFarcaster } from "./fake.ts";

export interface FarcasterStage extends Stage {
  readonly fake: FakeFarcaster;
  add(caption: string, metadata?: JsonObject, more?: object): ReturnType<typeof addPost>;
}

export async function openFarcaster(platform: AnyPlatform = farcaster): Promise<FarcasterStage> {
  const clock = new FakeClock();
  const fake = createFakeFarcaster(() => clock.now());
  const parts = { platformList: [platform], outbound: fake.door, media: createFetchedMedia(), clock };
  const ctx = await createTestContext(parts);
  const secrets = { apiKey: API_KEY, signerUuid: SIGNER };
  const account = await connectOn(callOf(ctx), { provider: "farcaster", secrets });
  const shown = () => {
    if (fake.wrong.length > 0) throw new Error(`Neynar was asked wrongly: ${fake.wrong.join("; ")}`);
    return fake.shown();
  };
  return {
    ctx,
    account,
    fake,
    add: (caption, metadata = {}, more = {}) =>
      addPost(ctx, account, { caption, metadata: JSON.stringify(metadata), ...more }),
    published: async () => shown().length,
    captions: async () => shown().map(({ text }) => text),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

export default {
  openStage: openFarcaster,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: {
      moreMedia: [{ url: PHOTO_URL }],
      channel: "brass",
      thread: [{ caption: "It is blown" }, { caption: "As ever", mediaUrl: PHOTO_URL }],
    },
  },
  otherPosts: {
    "a text": { caption: "Words alone", media_url: "", metadata: {} },
    "a link and a quote": {
      caption: "Read",
      media_url: "",
      metadata: { link: "https://posthorn.example/a", quote: QUOTED },
    },
  },
  troubles: {
    "meets a limit": async () => answerOf(429, { message: "Rate limit exceeded" }, { "retry-after": "30" }),
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "is told that it was there before": async (pass, { method }) =>
      method === "POST" ? refusal(409, "Duplicate request") : pass(),
  },
  refusesToken: async () => refusal(401, "Invalid API key"),
  needed: {
    "names the cast or the account": ["cast.hash", "users.username"],
    "whether the signer may cast": ["status"],
    "whose cast is quoted": ["cast.author.fid"],
    "what is chosen": ["channels.id"],
  },
} satisfies PlatformFixture;
