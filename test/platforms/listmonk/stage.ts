import { openStage } from "../../support/contract/open-stage.ts";
import listmonk from "../../../src/platforms/listmonk/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { answerOf } from "../../support/described.ts";
import { createFakeListmonk, refusal, SITE, textOf, TOKEN, USER } from "./fake.ts";

export const SECRETS = { username: USER, token: TOKEN, lists: "3, 1" };

export const openListmonk = (platform: AnyPlatform = listmonk) =>
  openStage({
    platform,
    createFake: createFakeListmonk,
    connect: () => ({ instanceUrl: SITE, secrets: SECRETS }),
    metadata: { title: "Horn" },
    shown: (fake) => fake.sent(),
    textOf,
  });

export default {
  openStage: openListmonk,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["brass"], archive: true, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn", lists: ["3"] } },
  },
  troubles: {
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "meets a broken database": async () => refusal(500, "Error fetching campaigns: connection refused"),
  },
  refusesToken: async () => refusal(403, "invalid API credentials"),
  needed: {
    "names the campaign, the list or the template": ["data.id", "data.results.id"],
    "whether it was started": ["data.status"],
    "where the file is": ["data.url"],
  },
} satisfies PlatformFixture;
