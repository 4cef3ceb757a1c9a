import { openStage } from "../../support/contract/open-stage.ts";
import farcaster from "../../../src/platforms/farcaster/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { answerOf } from "../../support/described.ts";
import { createFetchedMedia } from "../instagram/stage-kit.ts";
import { API_KEY, createFakeFarcaster, QUOTED, refusal, SIGNER } from "./fake.ts";

export const openFarcaster = (platform: AnyPlatform = farcaster) =>
  openStage({
    platform,
    createFake: createFakeFarcaster,
    connect: () => ({ secrets: { apiKey: API_KEY, signerUuid: SIGNER } }),
    media: createFetchedMedia(),
    shown: (fake) => fake.shown(),
    textOf: ({ text }) => text,
  });

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
  refusals: [
    {
      told: [
        [/does not let this signer/, () => refusal(403, "No")],
        [/^caption: Farcaster refused it/, () => refusal(400, "No", { property: "text" })],
        [/Farcaster says: "No"/, () => refusal(400, "No")],
      ],
    },
  ],
  unfit: [
    [
      { mediaUrl: PHOTO_URL, metadata: { link: "https://a.example/", quote: QUOTED, moreMedia: [] } },
      /^metadata\.moreMedia: /,
    ],
    [
      { metadata: { thread: [{ caption: "ü".repeat(513) }] } },
      /^metadata\.thread\[0\]\.caption: has 1026 bytes/,
    ],
    [{ metadata: { link: `https://a.example/${"x".repeat(250)}` } }, /^metadata\.link: /],
    [{ metadata: { quote: "https://example.com/" } }, /metadata\.quote/],
  ],
  needed: {
    "names the cast or the account": ["cast.hash", "users.username"],
    "whether the signer may cast": ["status"],
    "whose cast is quoted": ["cast.author.fid"],
    "what is chosen": ["channels.id"],
  },
} satisfies PlatformFixture;
