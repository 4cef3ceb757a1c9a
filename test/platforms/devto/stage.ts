import { openStage } from "../../support/contract/open-stage.ts";
import devto from "../../../src/platforms/devto/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { createFetchedMedia } from "../instagram/stage-kit.ts";
import { answerOf } from "../../support/described.ts";
import { API_KEY, createFakeDevto, refusal, textOf } from "./fake.ts";

export const openDevto = (platform: AnyPlatform = devto) =>
  openStage({
    platform,
    createFake: createFakeDevto,
    connect: () => ({ secrets: { apiKey: API_KEY } }),
    media: createFetchedMedia(),
    metadata: { title: "Horn" },
    shown: (fake) => fake.shown(),
    textOf,
  });

export default {
  openStage: openDevto,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["brass"], thumbnailUrl: PHOTO_URL, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn", series: "Horns" } },
  },
  troubles: {
    "meets a limit": async () =>
      answerOf(
        429,
        { error: "Rate limit reached, try again in 30 seconds", status: 429 },
        { "retry-after": "30" },
      ),
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
  },
  refusesToken: async () => refusal(401, "unauthorized"),
  refusals: [
    {
      told: [
        [/^metadata\.canonicalUrl: /, () => refusal(422, "Canonical url has already been taken")],
        [
          /^metadata\.tags: /,
          () => refusal(422, 'Tag "x" contains non-alphanumeric or prohibited characters'),
        ],
        [/ DEV says: "Something else"$/, () => refusal(422, "Something else")],
        [/does not let this account/, () => refusal(403, "Forbidden")],
      ],
    },
  ],
  needed: { "names the article": ["id"], "names the account": ["username"] },
} satisfies PlatformFixture;
