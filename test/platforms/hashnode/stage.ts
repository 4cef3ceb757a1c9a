import { openStage } from "../../support/contract/open-stage.ts";
import hashnode from "../../../src/platforms/hashnode/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { answerOf } from "../../support/described.ts";
import { createFakeHashnode, refusal, textOf, TOKEN } from "./fake.ts";

export const openHashnode = (platform: AnyPlatform = hashnode) =>
  openStage({
    platform,
    createFake: createFakeHashnode,
    connect: () => ({ secrets: { accessToken: TOKEN } }),
    metadata: { title: "Horn" },
    shown: (fake) => fake.shown(),
    textOf,
  });

export default {
  openStage: openHashnode,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["brass"], thumbnailUrl: PHOTO_URL, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn", newsletter: true } },
  },
  troubles: {
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "meets an error with HTTP 200": async () => refusal("INTERNAL_SERVER_ERROR", "Internal server error"),
  },
  refusesToken: async () => refusal("UNAUTHENTICATED", "Invalid token"),
  refusals: [
    {
      told: [
        [
          /with the error BAD_USER_INPUT.*Hashnode says: "Series not found"/,
          () => refusal("BAD_USER_INPUT", "Series not found"),
        ],
        [/may not do that in this publication/, () => refusal("FORBIDDEN", "Contributors cannot publish")],
      ],
    },
  ],
  needed: { "the answer to what was asked": ["data.**"] },
} satisfies PlatformFixture;
